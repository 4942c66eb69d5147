import type { ProviderErrorKind } from '@questline/core/ports';
import { describe, expect, test } from 'vitest';
import { never, openAI } from './set-up.ts';

const PICTURE = { mediaType: 'image/png', data: Buffer.from('the bytes of a picture') };

const DRAW = { model: 'gpt-image-1', prompt: 'A red panda', count: 2 };

describe('images of OpenAI', () => {
  test('requests images in the format of OpenAI and returns their usage', async () => {
    const { provider, upstream } = await openAI();
    const result = await provider.image?.(
      {
        ...DRAW,
        size: { width: 1024, height: 1536 },
        quality: 'hd',
        background: 'transparent',
        outputFormat: 'webp',
      },
      {},
    );
    expect(result?.images.map(({ mediaType, data }) => [mediaType, data.subarray(1, 4).toString()])).toEqual([
      ['image/png', 'PNG'],
      ['image/png', 'PNG'],
    ]);
    expect(result?.usage).toEqual({ input: 20, output: 2000 });
    expect(upstream.requests[0]).toMatchObject({
      path: '/v1/images/generations',
      body: {
        model: 'gpt-image-1',
        prompt: 'A red panda',
        n: 2,
        size: '1024x1536',
        quality: 'high',
        background: 'transparent',
        output_format: 'webp',
      },
    });
  });

  test('uses the older request format for older models', async () => {
    const { provider, upstream } = await openAI();
    await provider.image?.({ model: 'dall-e-3', prompt: 'x', count: 1, quality: 'hd', style: 'vivid' }, {});
    expect(upstream.requests[0]?.body).toEqual({
      model: 'dall-e-3',
      prompt: 'x',
      n: 1,
      quality: 'hd',
      response_format: 'b64_json',
      style: 'vivid',
    });
  });

  test('edits by a form with the image, references and mask', async () => {
    const { provider, upstream } = await openAI();
    await provider.image?.({ ...DRAW, source: PICTURE, references: [PICTURE], mask: PICTURE }, {});
    const { path, bytes, headers } = await upstream.request(0);
    const form = await new Response(new Uint8Array(bytes), {
      headers: { 'content-type': String(headers['content-type']) },
    }).formData();
    expect(path).toBe('/v1/images/edits');
    expect(form.get('prompt')).toBe('A red panda');
    expect(form.getAll('image[]')).toHaveLength(2);
    expect(await (form.get('mask') as File).text()).toBe('the bytes of a picture');
  });

  test('fails when the response contains no image', async () => {
    const { provider } = await openAI({ refusal: { status: 200, body: { data: [] } } });
    await expect(provider.image?.(DRAW, {})).rejects.toMatchObject({ kind: 'failed' });
  });
});

describe('audio of OpenAI', () => {
  test('returns speech in the requested format', async () => {
    const { provider, upstream } = await openAI();
    const speech = await provider.speech?.({ model: 'tts-1', text: 'Hello', format: 'mp3' }, {});
    expect(speech?.mediaType).toBe('audio/mpeg');
    expect([...(speech?.data.subarray(0, 2) ?? [])]).toEqual([0xff, 0xfb]);
    expect(upstream.requests[0]).toMatchObject({
      path: '/v1/audio/speech',
      body: { model: 'tts-1', input: 'Hello', voice: 'alloy', response_format: 'mp3' },
    });
  });

  test('returns speech in the requested voice', async () => {
    const { provider, upstream } = await openAI();
    await provider.speech?.({ model: 'tts-1', text: 'Hello', format: 'mp3', voice: 'nova' }, {});
    expect(upstream.requests[0]).toMatchObject({ body: { voice: 'nova' } });
  });

  test('transcribes audio', async () => {
    const { provider, upstream } = await openAI();
    const audio = { mediaType: 'audio/ogg', data: Buffer.from('sound') };
    const result = await provider.transcribe?.({ model: 'whisper-1', audio }, {});
    expect(result).toEqual({ text: 'Hello from the recording.', usage: { seconds: 3 } });
    const { path, bytes, headers } = await upstream.request(0);
    const form = await new Response(new Uint8Array(bytes), {
      headers: { 'content-type': String(headers['content-type']) },
    }).formData();
    const file = form.get('file') as File;
    expect([path, form.get('model'), file.name, file.type, await file.text()]).toEqual([
      '/v1/audio/transcriptions',
      'whisper-1',
      'audio.ogg',
      'audio/ogg',
      'sound',
    ]);
  });
});

const CALLS = {
  image: (provider: Awaited<ReturnType<typeof openAI>>['provider'], signal?: AbortSignal) =>
    provider.image?.(DRAW, signal === undefined ? {} : { signal }),
  speech: (provider: Awaited<ReturnType<typeof openAI>>['provider'], signal?: AbortSignal) =>
    provider.speech?.({ model: 'tts-1', text: 'Hi', format: 'mp3' }, signal === undefined ? {} : { signal }),
  transcribe: (provider: Awaited<ReturnType<typeof openAI>>['provider'], signal?: AbortSignal) =>
    provider.transcribe?.(
      { model: 'whisper-1', audio: { mediaType: 'audio/wav', data: Buffer.from('x') } },
      signal === undefined ? {} : { signal },
    ),
};

describe.each(Object.entries(CALLS))('makes a call of %s', (_name, ask) => {
  test.each<[number, string | null, ProviderErrorKind]>([
    [401, null, 'rejected_key'],
    [429, null, 'overloaded'],
    [400, null, 'invalid_request'],
    [400, 'moderation_blocked', 'content_blocked'],
    [500, null, 'failed'],
  ])('reports %i %s without the key', async (status, code, kind) => {
    const body = { error: { message: 'no, sk-platform-secret', code } };
    const { provider } = await openAI({ refusal: { status, body } });
    const failure = (await ask(provider)?.catch((error: unknown) => error)) as Error;
    expect(failure).toMatchObject({ name: 'ProviderError', kind });
    expect(failure.message).not.toContain('sk-platform');
  });

  test('stops when the caller aborts', async () => {
    const { provider, upstream } = await openAI({ wait: never });
    const abort = new AbortController();
    const asking = ask(provider, abort.signal)?.catch((error: unknown) => error);
    const request = await upstream.request(0);
    abort.abort(new Error('gone'));
    expect(await asking).toMatchObject({ message: 'gone' });
    await request.disconnected;
  });
});
