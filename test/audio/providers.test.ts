import { type ModelInfo, type ModelProvider, ProviderError } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createSoundStudio, SOUND_MODELS } from '../support/media.ts';
import { createTestApp, type TestAppOptions } from '../support/test-app.ts';

const SPEECH = ['tts', { text: 'Hello, you' }] as const;
const MUSIC = ['music', { prompt: 'A waltz' }] as const;
const EFFECT = ['sound-effects', { text: 'Bang', durationSeconds: 2 }] as const;
const CODE = 'provider_not_configured';

const studioOf = (...types: ModelInfo['type'][]) =>
  createSoundStudio(
    {},
    'media',
    SOUND_MODELS.filter(({ type }) => types.includes(type)),
  );
const withoutPrices = (id = 'media') =>
  createSoundStudio(
    {},
    id,
    SOUND_MODELS.map(({ prices: _prices, ...model }) => model),
  );

async function ask(
  models: readonly ModelProvider[],
  [path, body]: readonly [string, object],
  more: object = {},
  options: TestAppOptions = {},
) {
  const app = await createTestApp({ models, key: { scopes: ['ai:generate'] }, ...options });
  const answer = await app.ask('POST', `/api/ai/${path}`, {
    body: { ...body, encoding: 'base64', preview: true, ...more },
  });
  const json = (await answer.json()) as Record<string, unknown>;
  const { available, held } = await app.ledger.balance(app.account);
  return { app, status: answer.status, json, spent: 1000_000_000 - available, held };
}

describe('choice of a provider of audio', () => {
  it.each([
    ['speech without any provider', [], SPEECH, {}, 401, CODE],
    ['speech where others make music', [studioOf('music')], SPEECH, {}, 401, CODE],
    [
      'speech of a provider that is not there',
      [studioOf('text-to-speech')],
      SPEECH,
      { provider: 'x' },
      401,
      CODE,
    ],
    ['music without any provider', [], MUSIC, {}, 503, CODE],
    ['music where others speak', [studioOf('text-to-speech')], MUSIC, {}, 503, CODE],
    [
      'music of a provider where none makes it',
      [studioOf('sound-effect')],
      MUSIC,
      { provider: 'media' },
      503,
      CODE,
    ],
    ['music of a provider that is not there', [studioOf('music')], MUSIC, { provider: 'x' }, 422, CODE],
    ['sounds without any provider', [studioOf('music')], EFFECT, {}, 503, CODE],
    [
      'sounds of a provider that is not there',
      [studioOf('sound-effect')],
      EFFECT,
      { provider: 'x' },
      422,
      CODE,
    ],
    [
      'speech of a model of music',
      [createSoundStudio()],
      SPEECH,
      { model: 'band' },
      422,
      'model_unavailable',
    ],
    [
      'music of a model of speech',
      [createSoundStudio()],
      MUSIC,
      { modelId: 'reader' },
      422,
      'model_unavailable',
    ],
    ['speech without a price', [withoutPrices()], SPEECH, {}, 422, 'model_unavailable'],
    ['music without a price', [withoutPrices()], MUSIC, { modelId: 'band' }, 422, 'model_unavailable'],
    [
      'music with vocals only',
      [createSoundStudio()],
      MUSIC,
      { forceInstrumental: true },
      422,
      'unsupported_audio_option',
    ],
  ] as const)('is refused before any cost: %s', async (_name, models, request, more, status, errorCode) => {
    const { status: got, json, spent, held } = await ask(models, request, more);
    expect([got, json.errorCode, spent, held]).toEqual([status, errorCode, 0, 0]);
  });

  it('names the providers that are there', async () => {
    const { json } = await ask([createSoundStudio(), createSoundStudio({}, 'second')], MUSIC, {
      provider: 'x',
    });
    expect(json.error).toContain("'x' is not configured on this server, expected one of: media, second");
  });

  it.each([
    ['the first one', [createSoundStudio(), createSoundStudio({}, 'second')], {}, 'media'],
    [
      'the named one',
      [createSoundStudio(), createSoundStudio({}, 'second')],
      { provider: 'second' },
      'second',
    ],
    [
      'the one of the named model',
      [createSoundStudio(), createSoundStudio({}, 'second')],
      { model: 'reader-second' },
      'second',
    ],
    ['the first one with a price', [withoutPrices(), createSoundStudio({}, 'second')], {}, 'second'],
    [
      'the first one that can speak',
      [{ ...createSoundStudio(), speech: undefined as never }, createSoundStudio({}, 'second')],
      {},
      'second',
    ],
  ] as const)('is %s', async (_name, models, more, provider) => {
    const { status, json, spent } = await ask(models, SPEECH, more);
    expect([status, json.provider, spent]).toEqual([200, provider, 1_000_000]);
  });

  it('needs no price while credits are not enforced', async () => {
    const settings = { admin: { enforceCredits: false } };
    for (const request of [SPEECH, MUSIC, EFFECT]) {
      const { status, spent } = await ask([withoutPrices()], request, {}, { settings });
      expect([status, spent]).toEqual([200, 0]);
    }
  });

  it.each([
    [4095, 200],
    [4096, 200],
    [4097, 413],
  ])('counts the characters of a text: %i are answered with %i', async (length, status) => {
    const { status: got, spent } = await ask([createSoundStudio()], ['tts', { text: '😀'.repeat(length) }]);
    expect([got, spent]).toEqual([status, status === 200 ? length * 100_000 : 0]);
  });

  it('leaves vocals to the model unless the request excludes them', async () => {
    for (const forceInstrumental of [undefined, false]) {
      expect((await ask([createSoundStudio()], MUSIC, { forceInstrumental })).status).toBe(200);
    }
  });
});

describe('provider of audio whose key is missing', () => {
  it.each([
    [SPEECH, 401],
    [MUSIC, 503],
    [EFFECT, 503],
  ] as const)('is reported free of charge: %j', async (request, status) => {
    const studio = createSoundStudio({
      onSound: (call) => call.fail(new ProviderError('not_configured', 'secret')),
    });
    const { status: got, json, spent, held } = await ask([studio], request);
    expect([got, spent, held]).toEqual([status, 0, 0]);
    expect(json.errorCode).toBe(CODE);
    expect(JSON.stringify(json)).not.toContain('secret');
  });

  it.each([
    [{}, 2],
    [{ provider: 'media' }, 1],
    [{ model: 'reader' }, 1],
    [{ voice: 'amy' }, 1],
    [{ provider: 'media', model: 'reader' }, 1],
    [{ model: 'reader', voice: 'amy' }, 1],
    [{ provider: 'media', voice: 'amy' }, 1],
  ])('is replaced by another one only for a request that leaves it open: %j', async (more, tried) => {
    const fail = () => ({
      onSound: (call: { fail(error: unknown): void }) => call.fail(new ProviderError('timeout', 'x')),
    });
    const studios = [createSoundStudio(fail()), createSoundStudio(fail(), 'second')];
    const { status, spent } = await ask(studios, SPEECH, more);
    expect([status < 500, spent]).toEqual([false, 0]);
    expect(studios.reduce((sum, { sounds }) => sum + sounds.length, 0)).toBe(tried);
  });
});

it('makes no audio while the service shuts down', async () => {
  for (const request of [SPEECH, MUSIC, EFFECT]) {
    const studio = createSoundStudio();
    const app = await createTestApp({ models: [studio], key: { scopes: ['ai:generate'] } });
    await app.api.drain(0);
    const answer = await app.ask('POST', `/api/ai/${request[0]}`, { body: request[1] });
    expect([answer.status, studio.sounds.length]).toEqual([503, 0]);
  }
});
