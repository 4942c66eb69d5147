import { type ModelInfo, ProviderError } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createSoundStudio, SOUND_MODELS, type SoundCall, type SoundStudio } from '../support/media.ts';
import { createTestApp } from '../support/test-app.ts';

const TYPES = { music: 'music', 'sound-effects': 'sound-effect' } as const;
type Path = keyof typeof TYPES;

/** The text of a request, in its field. */
const BODIES: Readonly<Record<Path, object>> = {
  music: { prompt: 'A waltz' },
  'sound-effects': { text: 'A bang' },
};

async function setUp(path: Path, studios: readonly SoundStudio[]) {
  const app = await createTestApp({ models: studios, key: { scopes: ['ai:generate'] } });
  return {
    ask: (body: object = {}) => app.ask('POST', `/api/ai/${path}`, { body: { ...BODIES[path], ...body } }),
    getSpent: async () => 1000_000_000 - (await app.ledger.balance(app.account)).available,
  };
}

/** Models of the studio, with another model of one type. */
const withModel = (path: Path, more: Partial<ModelInfo>): readonly ModelInfo[] =>
  SOUND_MODELS.map((model) => (model.type === TYPES[path] ? { ...model, ...more } : model));

const down = () => createSoundStudio({ onSound: (call) => call.fail(new ProviderError('timeout', 'x')) });

describe('call of a provider of music or sound effects', () => {
  it.each<[Path, object, object]>([
    ['music', {}, { lengthMs: 10_000 }],
    ['music', { forceInstrumental: false, lengthMs: 5000 }, { instrumental: false, lengthMs: 5000 }],
    ['sound-effects', {}, {}],
    ['sound-effects', { durationSeconds: 2, promptInfluence: 0 }, { durationSeconds: 2, promptInfluence: 0 }],
  ])('of %s contains exactly what the request names: %j', async (path, body, expected) => {
    const studio = createSoundStudio();
    const { ask } = await setUp(path, [studio]);
    expect((await ask(body)).status).toBe(200);
    const model = path === 'music' ? 'band' : 'bang';
    expect(studio.sounds.map(({ request }) => request)).toEqual([
      { model, format: 'mp3', ...BODIES[path], ...expected },
    ]);
    expect(studio.sounds[0]?.options.signal).toBeInstanceOf(AbortSignal);
  });

  it.each<[Path, object, Partial<ModelInfo>, string]>([
    ['music', { forceInstrumental: true }, {}, 'unsupported_audio_option'],
    ['sound-effects', { promptInfluence: 0.5 }, {}, 'unsupported_audio_option'],
    ['sound-effects', { durationSeconds: 9 }, {}, 'unsupported_duration'],
  ])('of %s is not made for %j, which the model does not support', async (path, body, more, errorCode) => {
    const audio = { formats: ['mp3'], maxCharacters: 100, duration: { min: 1, max: 8 } } as const;
    const models = withModel(path, { audio: { ...audio, instrumental: 'none' }, ...more });
    const studio = createSoundStudio({}, 'media', models);
    const { ask } = await setUp(path, [studio]);
    const answer = await ask(body);
    expect([answer.status, await answer.json()]).toMatchObject([422, { errorCode }]);
    expect(studio.sounds).toEqual([]);
    expect((await ask(path === 'music' ? { lengthMs: 5000 } : {})).status).toBe(200);
  });

  it.each<Path>(['music', 'sound-effects'])('of %s costs the characters of the text', async (path) => {
    const models = withModel(path, { prices: { thousandCharacters: 1 } });
    const { ask, getSpent } = await setUp(path, [createSoundStudio({}, 'media', models)]);
    expect((await ask()).status).toBe(200);
    // A tenth of a credit per character.
    expect(await getSpent()).toBe((path === 'music' ? 'A waltz' : 'A bang').length * 100_000);
  });
});

describe('fallback provider of music and sound effects', () => {
  it.each<Path>(['music', 'sound-effects'])('answers when the first one of %s fails', async (path) => {
    const { ask } = await setUp(path, [down(), createSoundStudio({}, 'second')]);
    const answer = await ask({ encoding: 'base64' });
    expect([answer.status, await answer.json()]).toMatchObject([
      ...[200, { provider: 'second', fallbackFrom: 'media' }],
    ]);
  });

  it.each<[Path, object]>([
    ['music', { provider: 'media' }],
    ['music', { modelId: 'band' }],
    ['sound-effects', { provider: 'media' }],
  ])('of %s is not called for %j', async (path, body) => {
    const second = createSoundStudio({}, 'second');
    const { ask, getSpent } = await setUp(path, [down(), second]);
    expect((await ask(body)).status).toBe(502);
    expect([second.sounds, await getSpent()]).toEqual([[], 0]);
  });

  it('is no other model of the named provider', async () => {
    const [model] = SOUND_MODELS.filter(({ type }) => type === 'music');
    const models = model === undefined ? [] : [model, { ...model, id: 'choir' }];
    const onSound = (call: SoundCall) => call.fail(new ProviderError('timeout', 'x'));
    const studio = createSoundStudio({ onSound }, 'media', models);
    const { ask } = await setUp('music', [studio]);
    expect((await ask({ provider: 'media' })).status).toBe(502);
    expect(studio.sounds).toHaveLength(1);
    await ask();
    expect(studio.sounds).toHaveLength(3);
  });
});
