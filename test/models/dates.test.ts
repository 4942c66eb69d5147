import type { ModelInfo } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createChatApp, sayAtOnce } from '../support/chat.ts';
import { createSoundStudio, createStudio, drawAll, IMAGE_MODEL, SOUND_MODELS } from '../support/media.ts';
import { createScriptedProvider, SCRIPTED_MODEL } from '../support/model.ts';
import { NOW } from '../support/test-app.ts';

const DAY = 86_400_000;
const GONE = { deprecationDate: '2026-11-20', replacedBy: 'scripted' };

describe('retired model', () => {
  it('is rejected with the name of its successor by every operation, and is in no list', async () => {
    const vectors: ModelInfo = { ...SCRIPTED_MODEL, type: 'embedding', dimensions: 2 };
    const app = await createChatApp({
      models: [
        createScriptedProvider(sayAtOnce('Hello.'), [
          SCRIPTED_MODEL,
          { ...SCRIPTED_MODEL, id: 'old', ...GONE },
          { ...vectors, id: 'old-vectors', ...GONE },
        ]),
        createStudio(drawAll, [{ ...IMAGE_MODEL, id: 'old-painter', ...GONE, replacedBy: 'old' }]),
        createSoundStudio(
          {},
          'sounds',
          SOUND_MODELS.map((model) => ({ ...model, ...GONE })),
        ),
      ],
    });
    const refusals: [string, object, string, number][] = [
      ['/api/chat', { message: 'Hi' }, 'old', 400],
      ['/api/ai/v1/completions', { messages: [{ role: 'user', content: 'Hi' }] }, 'old', 400],
      ['/api/v1/image-generations', { prompt: 'A panda' }, 'old-painter', 422],
      ['/api/ai/tts', { text: 'Hi' }, 'reader-sounds', 422],
      ['/api/v1/embeddings', { input: 'Hi' }, 'old-vectors', 422],
    ];
    for (const [path, fields, model, status] of refusals) {
      const answer = await app.json('POST', path, { body: { ...fields, model } });
      expect([path, answer.status]).toEqual([path, status]);
      // A successor that is also retired is skipped.
      const words = `model '${model}' was retired on 2026-11-20; use 'scripted'`;
      expect(JSON.stringify(answer.body)).toContain(words);
    }
    const { body } = await app.json('GET', '/api/v1/models');
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual(['scripted']);
    expect((await app.ledger.balance(app.account)).available).toBe(1_000_000_000);
  });

  it('works until its retirement day begins in UTC; lists show the day and the successor before', async () => {
    const old = { ...SCRIPTED_MODEL, id: 'old', deprecationDate: '2026-11-22', replacedBy: 'scripted' };
    const app = await createChatApp({
      model: createScriptedProvider(sayAtOnce('Hello.'), [SCRIPTED_MODEL, old]),
    });
    expect((await app.chat({ message: 'Hi', model: 'old', wait: true })).status).toBe(200);
    const { body } = await app.json('GET', '/api/v1/models');
    expect(body.data[1]).toMatchObject({ deprecation_date: '2026-11-22', replaced_by: 'scripted' });
    const application = (await app.json('GET', '/api/models')).body.models[1];
    expect(application).toMatchObject({ deprecationDate: '2026-11-22', replacedBy: 'scripted' });
    await app.clock.advance(DAY / 2);
    const refused = await app.chat({ message: 'Hi', model: 'old' });
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([
      400,
      expect.stringContaining("model 'old' was retired on 2026-11-22; use 'scripted'"),
    ]);
  });

  it('is named in the error of a chat without a model when it is the default', async () => {
    const app = await createChatApp({
      model: createScriptedProvider(undefined, [SCRIPTED_MODEL, { ...SCRIPTED_MODEL, id: 'old', ...GONE }]),
      settings: { admin: { DefaultAPIModel: 'old' } },
    });
    const { status, body } = await app.chat({ message: 'Hi' });
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining("use 'scripted'")]);
  });
});

describe('price with a last day', () => {
  const dated: ModelInfo = {
    ...SCRIPTED_MODEL,
    prices: { input: 100, output: 100 },
    priceChanges: [{ from: '2026-11-22', prices: { input: 200, output: 300 } }],
  };

  it('applies until that day ends in UTC, and the next price afterwards', async () => {
    const app = await createChatApp({
      model: createScriptedProvider(sayAtOnce('Hello.'), [dated]),
      now: NOW,
    });
    const cost = async (): Promise<number> => {
      const before = (await app.ledger.balance(app.account)).posted;
      await app.chat({ message: 'Hi', wait: true });
      return before - (await app.ledger.balance(app.account)).posted;
    };
    // Ten input tokens, one output token.
    expect(await cost()).toBe(110_000);
    await app.clock.advance(DAY / 2 - 1);
    expect(await cost()).toBe(110_000);
    await app.clock.advance(1);
    expect(await cost()).toBe(230_000);
    const [listed] = (await app.json('GET', '/api/models')).body.models;
    expect(listed?.pricing).toEqual({ '0': { input: 200, output: 300 } });
  });

  it('is overridden by prices of the host', async () => {
    const app = await createChatApp({
      model: createScriptedProvider(sayAtOnce('Hello.'), [dated]),
      settings: { models: { scripted: { prices: { input: 10, output: 10 } } } },
      now: NOW + DAY,
    });
    await app.chat({ message: 'Hi', wait: true });
    expect((await app.ledger.balance(app.account)).posted).toBe(1_000_000_000 - 11_000);
  });
});
