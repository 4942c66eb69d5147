import { type ModelInfo, type ModelProvider, ProviderError } from '@questline/core';
import { createMemoryObjects } from '@questline/core/memory';
import { describe, expect, it } from 'vitest';
import { createSoundStudio, SOUND_MODELS, soundOf } from '../support/media.ts';
import { createWorld, type World, type WorldOptions } from '../support/world.ts';

const SCOPES = ['ai:generate'] as const;

function setUp(
  models: readonly ModelProvider[] = [createSoundStudio()],
  options: WorldOptions = {},
): Promise<World> {
  return createWorld({ models, key: { scopes: SCOPES }, ...options });
}

const speak = (world: World, body: object = {}, path = '/api/ai/tts') =>
  world.ask('POST', path, { body: { text: 'Hello, you', ...body } });

const spentBy = async ({ ledger, account }: World): Promise<number> =>
  1000 - (await ledger.balance(account)).available / 1e6;

const filesOf = async ({ services, user }: World, id: string) => services.library.get(user.id, id);

describe('speech', () => {
  it('is the sound itself, kept as a file and paid by the character', async () => {
    const world = await setUp();
    const answer = await speak(world);
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
    expect(await filesOf(world, headers['x-audio-file-id'] ?? '')).toMatchObject({
      mimeType: 'audio/mpeg',
      size: 100,
    });
    expect((await answer.arrayBuffer()).byteLength).toBe(100);
    expect(await spentBy(world)).toBe(1);
  });

  it('may come as base64, and as a preview that is not kept', async () => {
    const world = await setUp();
    const body = await (await speak(world, { encoding: 'base64', preview: true })).json();
    expect(body).toEqual({
      contentType: 'audio/mpeg',
      format: 'mp3',
      delivery: 'inline',
      audio: Buffer.from(soundOf(100).data).toString('base64'),
      provider: 'media',
    });
    expect(await spentBy(world)).toBe(1);
  });

  it('is not kept where there is no room, and says why', async () => {
    const world = await setUp(undefined, { settings: { files: { storageQuota: 50 } } });
    expect(await (await speak(world, { encoding: 'base64' })).json()).toMatchObject({
      delivery: 'inline',
      saved: false,
      saveSkippedReason: 'storage_limit',
    });
    const answer = await speak(world);
    expect([answer.status, answer.headers.get('x-audio-saved')]).toEqual([200, 'false']);
  });

  it('that is large is handed over by its address', async () => {
    const world = await setUp(undefined, { settings: { inlineAudioMaxBytes: 99 } });
    const answer = await speak(world);
    expect(answer.status).toBe(303);
    const read = await world.ask('GET', answer.headers.get('location') ?? '', { credential: null });
    expect([read.status, (await read.arrayBuffer()).byteLength]).toEqual([200, 100]);
    const told = await (await speak(world, { encoding: 'base64' })).json();
    expect(told).toMatchObject({ delivery: 'url', bytes: 100, saved: true, url: expect.any(String) });
    expect(told).not.toHaveProperty('audio');
  });

  it('that is large and nobody’s file has an address for a quarter of an hour, then it is gone', async () => {
    const objects = createMemoryObjects();
    const keys: string[] = [];
    const put: typeof objects.put = (key, ...more) => {
      keys.push(key);
      return objects.put(key, ...more);
    };
    const world = await setUp(undefined, {
      objects: { ...objects, put },
      settings: { inlineAudioMaxBytes: 99 },
    });
    await world.api.start();
    const answer = await speak(world, { preview: true });
    expect(answer.status).toBe(303);
    const read = await world.ask('GET', answer.headers.get('location') ?? '', { credential: null });
    expect(read.status).toBe(200);
    await world.clock.advance(16 * 60_000);
    await world.settle();
    expect(keys).toHaveLength(1);
    expect(await objects.head(keys[0] ?? '')).toBeUndefined();
  });

  it('that is large is refused with 413 where the store cannot sign, and is paid for', async () => {
    const world = await setUp(undefined, {
      objects: { ...createMemoryObjects(), signGet: async () => undefined },
      settings: { inlineAudioMaxBytes: 99 },
    });
    const answer = await speak(world);
    expect(answer.status).toBe(413);
    expect(await answer.json()).toMatchObject({ provider: 'media', saved: true, fileId: expect.any(String) });
    expect(await spentBy(world)).toBe(1);
  });

  it('of a text that is too long is refused before any cost', async () => {
    const studio = createSoundStudio();
    const world = await setUp([studio]);
    const answer = await speak(world, { text: 'x'.repeat(4097) });
    expect(answer.status).toBe(413);
    expect(await answer.json()).toMatchObject({ provider: 'media', request_id: expect.any(String) });
    expect(studio.sounds).toHaveLength(0);
    expect(await spentBy(world)).toBe(0);
  });

  it.each([
    [{ format: 'opus' }, 'unsupported_audio_option'],
    [{ similarityBoost: 0.5 }, 'unsupported_audio_option'],
    [{ model: 'nobody' }, 'model_unavailable'],
  ])('with %j is refused before any cost', async (body, errorCode) => {
    const world = await setUp();
    const answer = await speak(world, body);
    expect([answer.status, await answer.json()]).toMatchObject([422, { errorCode }]);
    expect(await spentBy(world)).toBe(0);
  });
});

describe('the language of speech', () => {
  it('is two letters, in any case', async () => {
    const studio = createSoundStudio({}, 'media', [
      ...SOUND_MODELS.filter(({ type }) => type !== 'text-to-speech'),
      {
        ...(SOUND_MODELS.find(({ type }) => type === 'text-to-speech') as ModelInfo),
        audio: { formats: ['mp3'], maxCharacters: 100, options: ['languageCode'] },
      },
    ]);
    const world = await setUp([studio]);
    for (const languageCode of ['de', 'DE']) {
      expect((await speak(world, { languageCode })).status).toBe(200);
      expect(studio.sounds.at(-1)?.request).toMatchObject({ languageCode: 'de' });
    }
    for (const languageCode of ['d', 'deu', 'd1', 'äö', '']) {
      expect((await speak(world, { languageCode })).status).toBe(422);
    }
  });
});

describe('another provider', () => {
  const down = () => createSoundStudio({ onSound: (call) => call.fail(new ProviderError('timeout', 'x')) });
  const second = () => createSoundStudio({}, 'second');

  it('reads when the first one fails, and both are told', async () => {
    const world = await setUp([down(), second()]);
    const answer = await speak(world);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-tts-provider')).toBe('second');
    expect(answer.headers.get('x-tts-provider-fallback-from')).toBe('media');
    expect(await (await speak(world, { encoding: 'base64' })).json()).toMatchObject({
      provider: 'second',
      fallbackFrom: 'media',
    });
    // Each call is paid for once.
    expect(await spentBy(world)).toBe(2);
  });

  it.each([[{ provider: 'media' }], [{ model: 'reader' }], [{ voice: 'amy' }]])(
    'is not asked for %j',
    async (body) => {
      const world = await setUp([down(), second()]);
      expect((await speak(world, body)).status).toBe(502);
      expect(await spentBy(world)).toBe(0);
    },
  );

  it('is not asked when the request is at fault', async () => {
    const blocking = createSoundStudio({
      onSound: (call) => call.fail(new ProviderError('content_blocked', 'x')),
    });
    const other = second();
    const world = await setUp([blocking, other]);
    expect((await speak(world)).status).toBe(422);
    expect(other.sounds).toHaveLength(0);
  });

  it('is chosen at once when only it can do what is asked for', async () => {
    const flac = SOUND_MODELS.slice(0, 1).map((model) => ({
      ...model,
      audio: { formats: ['flac' as const], maxCharacters: 10_000 },
    }));
    const world = await setUp([createSoundStudio(), createSoundStudio({}, 'second', flac)]);
    const answer = await speak(world, { format: 'flac' });
    expect(answer.headers.get('x-tts-provider')).toBe('second');
    expect(answer.headers.get('x-tts-provider-fallback-from')).toBeNull();
  });
});

describe('music and sounds', () => {
  it('are paid by the second', async () => {
    const studio = createSoundStudio();
    const world = await setUp([studio]);
    const music = await world.ask('POST', '/api/ai/music', { body: { prompt: 'A waltz' } });
    expect([music.status, music.headers.get('content-type')]).toEqual([200, 'audio/mpeg']);
    expect(studio.sounds[0]?.request).toEqual({
      model: 'band',
      prompt: 'A waltz',
      lengthMs: 10_000,
      format: 'mp3',
    });
    expect(await spentBy(world)).toBe(10);
    await speak(world, { durationSeconds: 2, promptInfluence: 0.5 }, '/api/ai/sound-effects');
    expect(await spentBy(world)).toBe(12);
  });

  it('of unknown length hold the longest, and pay what the provider counts', async () => {
    const studio = createSoundStudio({
      onSound: (call) => call.answer({ ...soundOf(10), usage: { seconds: 4 } }),
    });
    const world = await setUp([studio]);
    await speak(world, {}, '/api/ai/sound-effects');
    expect(await spentBy(world)).toBe(4);
  });

  it.each([
    [{ seconds: -4 }],
    [{ seconds: Number.NaN }],
    [{ seconds: 0 }],
    [{ seconds: 4, bytes: 0.5 }],
    [{ seconds: 1e9 }],
    [{ input: -1, output: 2 ** 60 }],
  ])('cost what was asked for when their provider counts %j', async (usage) => {
    const studio = createSoundStudio({ onSound: (call) => call.answer({ ...soundOf(10), usage }) });
    const world = await setUp([studio]);
    const answer = await world.ask('POST', '/api/ai/music', { body: { prompt: 'x', lengthMs: 10_000 } });
    expect(answer.status).toBe(200);
    expect(await spentBy(world)).toBe(10);
    expect((await world.ledger.balance(world.account)).held).toBe(0);
    expect(world.incidents).toEqual([]);
  });

  it.each([
    ['/api/ai/music', { prompt: 'x', lengthMs: 61_000 }, 'unsupported_duration'],
    ['/api/ai/music', { prompt: 'x', forceInstrumental: true }, 'unsupported_audio_option'],
  ])('at %s with %j are refused before any cost', async (path, body, errorCode) => {
    const world = await setUp();
    const answer = await world.ask('POST', path, { body });
    expect([answer.status, await answer.json()]).toMatchObject([422, { errorCode }]);
    expect(await spentBy(world)).toBe(0);
  });
});

describe('a caller who leaves', () => {
  it('stops the provider, and pays nothing', async () => {
    const studio = createSoundStudio({ onSound: () => undefined });
    const world = await setUp([studio]);
    const leaving = new AbortController();
    const asking = world
      .ask('POST', '/api/ai/tts', { body: { text: 'Hello' }, signal: leaving.signal })
      .catch(() => undefined);
    await world.settle();
    leaving.abort();
    await asking;
    await world.settle();
    expect(studio.sounds[0]?.options.signal?.aborted).toBe(true);
    expect(await spentBy(world)).toBe(0);
  });
});
