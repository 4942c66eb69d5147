import { createMemoryObjects } from '@questline/core/memory';
import { type ModelInfo, type ModelProvider, ProviderError } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createSoundStudio, SOUND_MODELS, toAudio } from '../support/media.ts';
import { createTestApp, type TestApp, type TestAppOptions } from '../support/test-app.ts';

const SCOPES = ['ai:generate'] as const;

function setUp(
  models: readonly ModelProvider[] = [createSoundStudio()],
  options: TestAppOptions = {},
): Promise<TestApp> {
  return createTestApp({ models, key: { scopes: SCOPES }, ...options });
}

const speak = (app: TestApp, body: object = {}, path = '/api/ai/tts') =>
  app.ask('POST', path, { body: { text: 'Hello, you', ...body } });

const spentBy = async ({ ledger, account }: TestApp): Promise<number> =>
  1000 - (await ledger.balance(account)).available / 1e6;

const getFiles = async ({ services, user }: TestApp, id: string) => services.library.get(user.id, id);

describe('text-to-speech', () => {
  it('returns the audio, stores it as a file and charges per character', async () => {
    const app = await setUp();
    const answer = await speak(app);
    expect(answer.status).toBe(200);
    const headers = Object.fromEntries(answer.headers);
    expect(headers).toMatchObject({
      'content-type': 'audio/mpeg',
      'content-length': '100',
      'x-audio-saved': 'true',
      'x-tts-provider': 'media',
    });
    expect(headers).not.toHaveProperty('x-tts-provider-fallback-from');
    expect(headers['x-audio-file-name']).toMatch(/^speech-[0-9a-f]{6}\.mp3$/);
    expect(headers['x-audio-file-url']).toMatch(/^\/api\/v1\/objects/);
    expect(await getFiles(app, headers['x-audio-file-id'] ?? '')).toMatchObject({
      mimeType: 'audio/mpeg',
      size: 100,
    });
    expect((await answer.arrayBuffer()).byteLength).toBe(100);
    expect(await spentBy(app)).toBe(1);
  });

  it('returns base64 or an unsaved preview on request', async () => {
    const app = await setUp();
    const body = await (await speak(app, { encoding: 'base64', preview: true })).json();
    expect(body).toEqual({
      contentType: 'audio/mpeg',
      format: 'mp3',
      delivery: 'inline',
      audio: Buffer.from(toAudio(100).data).toString('base64'),
      provider: 'media',
    });
    expect(await spentBy(app)).toBe(1);
  });

  it('returns the audio unsaved with a reason when storage is full', async () => {
    const app = await setUp(undefined, { settings: { files: { storageQuota: 50 } } });
    expect(await (await speak(app, { encoding: 'base64' })).json()).toMatchObject({
      delivery: 'inline',
      saved: false,
      saveSkippedReason: 'storage_limit',
    });
    const answer = await speak(app);
    expect([answer.status, answer.headers.get('x-audio-saved')]).toEqual([200, 'false']);
  });

  it('returns large audio by its address', async () => {
    const app = await setUp(undefined, { settings: { inlineAudioMaxBytes: 99 } });
    const answer = await speak(app);
    expect(answer.status).toBe(303);
    const read = await app.ask('GET', answer.headers.get('location') ?? '', { credential: null });
    expect([read.status, (await read.arrayBuffer()).byteLength]).toEqual([200, 100]);
    const reported = await (await speak(app, { encoding: 'base64' })).json();
    expect(reported).toMatchObject({ delivery: 'url', bytes: 100, saved: true, url: expect.any(String) });
    expect(reported).not.toHaveProperty('audio');
  });

  it('returns large unsaved audio at an address that expires after 15 minutes', async () => {
    const objects = createMemoryObjects();
    const keys: string[] = [];
    const put: typeof objects.put = (key, ...more) => {
      keys.push(key);
      return objects.put(key, ...more);
    };
    const app = await setUp(undefined, {
      objects: { ...objects, put },
      settings: { inlineAudioMaxBytes: 99 },
    });
    await app.api.start();
    const answer = await speak(app, { preview: true });
    expect(answer.status).toBe(303);
    const read = await app.ask('GET', answer.headers.get('location') ?? '', { credential: null });
    expect(read.status).toBe(200);
    await app.clock.advance(16 * 60_000);
    await app.settle();
    expect(keys).toHaveLength(1);
    expect(await objects.head(keys[0] ?? '')).toBeUndefined();
  });

  it('answers 413 for large audio when the store cannot sign links, and charges it', async () => {
    const app = await setUp(undefined, {
      objects: { ...createMemoryObjects(), signGet: async () => undefined },
      settings: { inlineAudioMaxBytes: 99 },
    });
    const answer = await speak(app);
    expect(answer.status).toBe(413);
    expect(await answer.json()).toMatchObject({ provider: 'media', saved: true, fileId: expect.any(String) });
    expect(await spentBy(app)).toBe(1);
  });

  it('rejects an overlong text before any cost', async () => {
    const studio = createSoundStudio();
    const app = await setUp([studio]);
    const answer = await speak(app, { text: 'x'.repeat(4097) });
    expect(answer.status).toBe(413);
    expect(await answer.json()).toMatchObject({ provider: 'media', request_id: expect.any(String) });
    expect(studio.sounds).toHaveLength(0);
    expect(await spentBy(app)).toBe(0);
  });

  it.each([
    [{ format: 'opus' }, 'unsupported_audio_option'],
    [{ similarityBoost: 0.5 }, 'unsupported_audio_option'],
    [{ model: 'unknown' }, 'model_unavailable'],
  ])('rejects %j before any cost', async (body, errorCode) => {
    const app = await setUp();
    const answer = await speak(app, body);
    expect([answer.status, await answer.json()]).toMatchObject([422, { errorCode }]);
    expect(await spentBy(app)).toBe(0);
  });
});

describe('language of speech', () => {
  it('is two letters in any case', async () => {
    const studio = createSoundStudio({}, 'media', [
      ...SOUND_MODELS.filter(({ type }) => type !== 'text-to-speech'),
      {
        ...(SOUND_MODELS.find(({ type }) => type === 'text-to-speech') as ModelInfo),
        audio: { formats: ['mp3'], maxCharacters: 100, options: ['languageCode'] },
      },
    ]);
    const app = await setUp([studio]);
    for (const languageCode of ['de', 'DE']) {
      expect((await speak(app, { languageCode })).status).toBe(200);
      expect(studio.sounds.at(-1)?.request).toMatchObject({ languageCode: 'de' });
    }
    for (const languageCode of ['d', 'deu', 'd1', 'äö', '']) {
      expect((await speak(app, { languageCode })).status).toBe(422);
    }
  });
});

describe('fallback provider of audio', () => {
  const down = () => createSoundStudio({ onSound: (call) => call.fail(new ProviderError('timeout', 'x')) });
  const second = () => createSoundStudio({}, 'second');

  it('answers when the first one fails, and both attempts are recorded', async () => {
    const app = await setUp([down(), second()]);
    const answer = await speak(app);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-tts-provider')).toBe('second');
    expect(answer.headers.get('x-tts-provider-fallback-from')).toBe('media');
    expect(await (await speak(app, { encoding: 'base64' })).json()).toMatchObject({
      provider: 'second',
      fallbackFrom: 'media',
    });
    // Each call is charged once.
    expect(await spentBy(app)).toBe(2);
  });

  it('answers when the first one returns no bytes, which is free', async () => {
    const silent = createSoundStudio({
      onSound: (call) => call.answer({ ...toAudio(3), data: Buffer.alloc(0) }),
    });
    const app = await setUp([silent, second()]);
    const answer = await speak(app);
    expect([answer.status, answer.headers.get('x-tts-provider')]).toEqual([200, 'second']);
    expect(await spentBy(app)).toBe(1);
    const alone = await setUp([silent]);
    expect([(await speak(alone)).status, await spentBy(alone)]).toEqual([502, 0]);
  });

  it.each([[{ provider: 'media' }], [{ model: 'reader' }], [{ voice: 'amy' }]])(
    'is not called for %j',
    async (body) => {
      const app = await setUp([down(), second()]);
      expect((await speak(app, body)).status).toBe(502);
      expect(await spentBy(app)).toBe(0);
    },
  );

  it('is not called when the request is invalid', async () => {
    const blocking = createSoundStudio({
      onSound: (call) => call.fail(new ProviderError('content_blocked', 'x')),
    });
    const other = second();
    const app = await setUp([blocking, other]);
    expect((await speak(app)).status).toBe(422);
    expect(other.sounds).toHaveLength(0);
  });

  it('is called first when only it supports the request', async () => {
    const flac = SOUND_MODELS.slice(0, 1).map((model) => ({
      ...model,
      audio: { formats: ['flac' as const], maxCharacters: 10_000 },
    }));
    const app = await setUp([createSoundStudio(), createSoundStudio({}, 'second', flac)]);
    const answer = await speak(app, { format: 'flac' });
    expect(answer.headers.get('x-tts-provider')).toBe('second');
    expect(answer.headers.get('x-tts-provider-fallback-from')).toBeNull();
  });
});

describe('music and sound effects', () => {
  it('are charged per second', async () => {
    const studio = createSoundStudio();
    const app = await setUp([studio]);
    const music = await app.ask('POST', '/api/ai/music', { body: { prompt: 'A waltz' } });
    expect([music.status, music.headers.get('content-type')]).toEqual([200, 'audio/mpeg']);
    expect(studio.sounds[0]?.request).toEqual({
      model: 'band',
      prompt: 'A waltz',
      lengthMs: 10_000,
      format: 'mp3',
    });
    expect(await spentBy(app)).toBe(10);
    await speak(app, { durationSeconds: 2, promptInfluence: 0.5 }, '/api/ai/sound-effects');
    expect(await spentBy(app)).toBe(12);
  });

  it('of unknown length hold the maximum and charge the reported duration', async () => {
    const studio = createSoundStudio({
      onSound: (call) => call.answer({ ...toAudio(10), usage: { seconds: 4 } }),
    });
    const app = await setUp([studio]);
    await speak(app, {}, '/api/ai/sound-effects');
    expect(await spentBy(app)).toBe(4);
  });

  it.each([
    [{ seconds: -4 }],
    [{ seconds: Number.NaN }],
    [{ seconds: 0 }],
    [{ seconds: 4, bytes: 0.5 }],
    [{ seconds: 1e9 }],
    [{ input: -1, output: 2 ** 60 }],
  ])('charge the requested duration when their provider reports %j', async (usage) => {
    const studio = createSoundStudio({ onSound: (call) => call.answer({ ...toAudio(10), usage }) });
    const app = await setUp([studio]);
    const answer = await app.ask('POST', '/api/ai/music', { body: { prompt: 'x', lengthMs: 10_000 } });
    expect(answer.status).toBe(200);
    expect(await spentBy(app)).toBe(10);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
    expect(app.incidents).toEqual([]);
  });

  it.each([
    ['/api/ai/music', { prompt: 'x', lengthMs: 61_000 }, 'unsupported_duration'],
    ['/api/ai/music', { prompt: 'x', forceInstrumental: true }, 'unsupported_audio_option'],
  ])('at %s with %j are rejected before any cost', async (path, body, errorCode) => {
    const app = await setUp();
    const answer = await app.ask('POST', path, { body });
    expect([answer.status, await answer.json()]).toMatchObject([422, { errorCode }]);
    expect(await spentBy(app)).toBe(0);
  });
});

describe('client that disconnects during an audio request', () => {
  const leave = async () => {
    const studio = createSoundStudio({ onSound: () => undefined });
    const app = await setUp([studio]);
    const leaving = new AbortController();
    const asking = app
      .ask('POST', '/api/ai/tts', { body: { text: 'Hello' }, signal: leaving.signal })
      .catch(() => undefined);
    await app.settle();
    leaving.abort();
    await asking;
    await app.settle();
    return { studio, app };
  };

  it('is charged for audio that the provider completes', async () => {
    const { studio, app } = await leave();
    const { held } = await app.ledger.balance(app.account);
    expect(held).toBeGreaterThan(0);
    studio.sounds[0]?.answer(toAudio(100));
    await app.settle();
    expect(await spentBy(app)).toBe(held / 1_000_000);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
    expect(app.clock.pending).toBe(0);
  });

  it('is not charged when the provider fails', async () => {
    const { studio, app } = await leave();
    studio.sounds[0]?.fail(new ProviderError('failed', 'down'));
    await app.settle();
    expect(await spentBy(app)).toBe(0);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });

  it('is not charged when the provider does not answer within ten minutes, after which the call is aborted', async () => {
    const { studio, app } = await leave();
    await app.clock.advance(10 * 60_000);
    await app.settle();
    expect(studio.sounds[0]?.options.signal?.aborted).toBe(true);
    expect(await spentBy(app)).toBe(0);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });
});
