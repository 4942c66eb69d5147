import type { ProviderErrorKind } from '@questline/core/ports';
import { createElevenLabsProvider, type ElevenLabsProviderOptions } from '@questline/providers/elevenlabs';
import { createElevenLabsUpstream, type ScriptSource } from '@questline/testing/upstreams';
import { describe, expect, test } from 'vitest';
import { connect, never } from './set-up.ts';

const elevenLabs = (script: ScriptSource = {}, options: ElevenLabsProviderOptions = {}) =>
  connect(createElevenLabsUpstream, createElevenLabsProvider, script, options);

const SAY = { model: 'eleven_flash_v2_5', text: 'Hello', format: 'mp3' } as const;

describe('provider ElevenLabs', () => {
  test('sends speech requests in its own format', async () => {
    const { provider, upstream } = await elevenLabs();
    const result = await provider.speech?.(
      { ...SAY, voice: 'a voice', stability: 0.5, similarityBoost: 0.7, languageCode: 'de' },
      {},
    );
    expect(result).toMatchObject({ mediaType: 'audio/mpeg', usage: { seconds: 0.026 } });
    expect([...(result?.data.subarray(0, 2) ?? [])]).toEqual([0xff, 0xfb]);
    expect(upstream.requests[0]).toMatchObject({
      method: 'POST',
      path: '/v1/text-to-speech/a%20voice?output_format=mp3_44100_128',
      headers: { 'xi-api-key': 'sk-platform-secret', 'content-type': 'application/json' },
      body: {
        text: 'Hello',
        model_id: 'eleven_flash_v2_5',
        voice_settings: { stability: 0.5, similarity_boost: 0.7 },
        language_code: 'de',
      },
    });
  });

  test('uses a default voice when none is requested', async () => {
    const { provider, upstream } = await elevenLabs({}, { voice: 'mine' });
    await provider.speech?.(SAY, {});
    expect(upstream.requests[0]).toMatchObject({
      path: expect.stringContaining('/text-to-speech/mine?'),
      body: { text: 'Hello', model_id: 'eleven_flash_v2_5' },
    });
  });

  test('makes sound effects and music', async () => {
    const { provider, upstream } = await elevenLabs();
    await provider.soundEffect?.(
      { model: 's', text: 'A door', durationSeconds: 2, promptInfluence: 0.4, format: 'opus' },
      {},
    );
    await provider.music?.(
      { model: 'music_v1', prompt: 'A waltz', lengthMs: 10_000, instrumental: true, format: 'mp3' },
      {},
    );
    expect(upstream.requests.map(({ path, body }) => [path, body])).toEqual([
      [
        '/v1/sound-generation?output_format=opus_48000_128',
        { text: 'A door', model_id: 's', duration_seconds: 2, prompt_influence: 0.4 },
      ],
      [
        '/v1/music?output_format=mp3_44100_128',
        { prompt: 'A waltz', music_length_ms: 10_000, model_id: 'music_v1', force_instrumental: true },
      ],
    ]);
  });

  test('builds WAV by adding a header to the samples', async () => {
    const { provider, upstream } = await elevenLabs();
    const result = await provider.speech?.({ ...SAY, format: 'wav' }, {});
    const wave = Buffer.from(result?.data ?? []);
    expect(upstream.requests[0]?.path).toContain('output_format=pcm_24000');
    expect(wave.toString('latin1', 0, 4) + wave.toString('latin1', 8, 12)).toBe('RIFFWAVE');
    expect([wave.length, wave.readUInt32LE(4), wave.readUInt32LE(40)]).toEqual([4844, 4836, 4800]);
    expect(result).toMatchObject({ mediaType: 'audio/wav', usage: { seconds: 0.1 } });
  });

  test('rejects an unsupported format without a call', async () => {
    const { provider, upstream } = await elevenLabs();
    await expect(provider.speech?.({ ...SAY, format: 'flac' }, {})).rejects.toMatchObject({
      kind: 'invalid_request',
    });
    expect(upstream.requests).toHaveLength(0);
  });

  test.each<[number, unknown, ProviderErrorKind]>([
    [401, { detail: { status: 'invalid_api_key', message: 'no' } }, 'rejected_key'],
    [401, { detail: { status: 'quota_exceeded', message: 'no' } }, 'rejected_key'],
    [429, { detail: { status: 'too_many_concurrent_requests', message: 'no' } }, 'overloaded'],
    [400, { detail: { status: 'bad_prompt', message: 'no' } }, 'content_blocked'],
    [422, { detail: [{ loc: ['body'], msg: 'field required' }] }, 'invalid_request'],
    [500, 'Internal Server Error', 'failed'],
  ])('maps %i %j to its kind', async (status, body, kind) => {
    const { provider } = await elevenLabs({ refusal: { status, body } });
    await expect(provider.speech?.(SAY, {})).rejects.toMatchObject({ name: 'ProviderError', kind });
  });

  test('stops when the caller aborts', async () => {
    const { provider, upstream } = await elevenLabs({ wait: never });
    const abort = new AbortController();
    const asking = provider.speech?.(SAY, { signal: abort.signal }).catch((error: unknown) => error);
    const request = await upstream.request(0);
    abort.abort(new Error('gone'));
    expect(await asking).toMatchObject({ message: 'gone' });
    await request.disconnected;
  });

  test('offers models only with a key, and prices all of them', async () => {
    expect(createElevenLabsProvider().models()).toEqual([]);
    const { provider } = await elevenLabs();
    expect(provider.models().map(({ type }) => type)).toEqual([
      'text-to-speech',
      'text-to-speech',
      'sound-effect',
      'music',
    ]);
    for (const { prices } of provider.models()) {
      expect(Math.max(...Object.values(prices ?? {}))).toBeGreaterThan(0);
    }
  });
});
