import type { ModelInfo } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createSoundStudio, SOUND_MODELS } from '../support/media.ts';
import { createTestApp } from '../support/test-app.ts';

const VOICE_OPTIONS = ['stability', 'similarityBoost', 'languageCode'] as const;
const MODELS: readonly ModelInfo[] = SOUND_MODELS.map((model) =>
  model.type === 'text-to-speech' && model.audio !== undefined
    ? { ...model, audio: { ...model.audio, options: VOICE_OPTIONS } }
    : model,
);

async function setUp() {
  const studio = createSoundStudio({}, 'media', MODELS);
  const app = await createTestApp({ models: [studio], key: { scopes: ['ai:generate'] } });
  const ask = (path: string, body: object) => app.ask('POST', `/api/ai/${path}`, { body });
  return { app, studio, ask };
}

describe('call of the provider of speech', () => {
  const TEXT = 'Hello, you';

  it.each([
    [{}, {}],
    [{ voice: 'amy' }, { voice: 'amy' }],
    [{ stability: 0 }, { stability: 0 }],
    [{ stability: 0.25 }, { stability: 0.25 }],
    [{ similarityBoost: 1 }, { similarityBoost: 1 }],
    [{ languageCode: 'DE' }, { languageCode: 'de' }],
    [{ model: 'reader', provider: 'media' }, {}],
    [
      { voice: 'amy', stability: 0.1, similarityBoost: 0.2, languageCode: 'en', format: 'wav' },
      { voice: 'amy', stability: 0.1, similarityBoost: 0.2, languageCode: 'en', format: 'wav' },
    ],
  ])('contains exactly what the request names: %j', async (body, expected) => {
    const { studio, ask } = await setUp();
    expect((await ask('tts', { text: TEXT, ...body })).status).toBe(200);
    expect(studio.sounds.map(({ request }) => request)).toEqual([
      { model: 'reader', text: TEXT, format: 'mp3', ...expected },
    ]);
  });
});

describe('length of music', () => {
  it.each([
    [4999, 422],
    [5000, 200],
    [5001, 200],
    [59_999, 200],
    [60_000, 200],
    [60_001, 422],
  ])('of %i ms is answered with %i where the model makes 5 to 60 seconds', async (lengthMs, status) => {
    const { app, studio, ask } = await setUp();
    const answer = await ask('music', { prompt: 'A waltz', lengthMs });
    expect(answer.status).toBe(status);
    const spent = 1000_000_000 - (await app.ledger.balance(app.account)).available;
    // One credit per second.
    expect([studio.sounds.length, spent]).toEqual(status === 200 ? [1, lengthMs * 1000] : [0, 0]);
    if (status !== 200) {
      expect(await answer.json()).toMatchObject({
        errorCode: 'unsupported_duration',
        error: 'Band supports 5 to 60 seconds.',
      });
    }
  });
});
