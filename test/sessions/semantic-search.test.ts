import { createDemoProvider, fromCredits, type UserRecord } from '@questline/core';
import { MESSAGES, SESSIONS } from '@questline/core/internal';
import { type EmbedResult, type ModelInfo, type ModelProvider, ProviderError } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { callAs, shareWith } from '../support/sharing.ts';
import { createTestApp, NOW, type TestApp, type TestAppOptions } from '../support/test-app.ts';

const PATH = '/api/sessions/semantic-search';
/** One credit per token. */
const INFO = {
  id: 'vectors',
  name: 'Vectors',
  type: 'embedding',
  provider: 'vectors',
  contextWindow: 2000,
  maxOutputTokens: 0,
  prices: { input: 10_000 },
} as const;

/** A model with two dimensions, cats and dogs: other texts have a zero vector. */
function provider(requests: string[][], answer?: (inputs: readonly string[]) => EmbedResult): ModelProvider {
  return {
    id: 'vectors',
    models: () => [INFO],
    generate: () => Promise.reject(new Error('no')),
    async embed({ inputs }) {
      requests.push([...inputs]);
      const has = (text: string, word: string) => Number(text.toLowerCase().includes(word));
      const embeddings = inputs.map((text) => [has(text, 'cat'), has(text, 'dog'), 0.1]);
      return answer?.(inputs) ?? { embeddings, tokens: inputs.length };
    },
  };
}

async function setUp(options: TestAppOptions = {}, answer?: (inputs: readonly string[]) => EmbedResult) {
  const requests: string[][] = [];
  const app = await createTestApp({ models: [provider(requests, answer)], ...options });
  const grace = await app.addUser('grace@example.com');
  return { app, ada: app.user, grace, requests };
}

/** @returns the session's id. */
async function addSession(
  { services }: TestApp,
  owner: UserRecord,
  name: string,
  messages: readonly string[] = [],
  lastUpdated = NOW,
): Promise<string> {
  const { store, ids } = services;
  const id = ids.next();
  const common = { ownerId: owner.id, firstCreated: NOW, lastUpdated };
  await store.collection(SESSIONS).insert({ id, name, ...common });
  for (const content of messages) {
    const record = { id: ids.next(), sessionId: id, ownerId: owner.id, role: 'user', content } as const;
    await store.collection(MESSAGES).insert({ ...record, createdAt: lastUpdated });
  }
  return id;
}

const search = (app: TestApp, who: UserRecord, body: object) => callAs(app, who, 'POST', PATH, body);

describe('semantic search of sessions', () => {
  it('returns the most similar session first, the newest of equals, with the number of matching messages', async () => {
    const { app, ada } = await setUp();
    const both = await addSession(app, ada, 'Pets', ['A cat and a dog.', 'The weather is fine.']);
    const cats = await addSession(app, ada, 'Animals', ['A cat sleeps.', 'Cats eat.', 'Tea, please.']);
    const titled = await addSession(app, ada, 'Dog and cat food');
    await addSession(app, ada, 'Cars', ['An engine.']);
    const { status, body } = await search(app, ada, { query: 'my cat', minSimilarity: 0.6 });
    expect(status).toBe(200);
    expect(body).toEqual({
      sessionIds: [cats, titled, both],
      count: 3,
      scores: [
        { sessionId: cats, sessionName: 'Animals', maxSimilarity: 1, matchingMessages: 2 },
        {
          sessionId: titled,
          sessionName: 'Dog and cat food',
          maxSimilarity: expect.closeTo(0.71, 2),
          matchingMessages: 0,
        },
        { sessionId: both, sessionName: 'Pets', maxSimilarity: expect.closeTo(0.71, 2), matchingMessages: 1 },
      ],
    });
    expect(
      (await search(app, ada, { query: 'my cat', minSimilarity: 0.6, limit: 1 })).body.sessionIds,
    ).toEqual([cats]);
  });

  it('works with the offline embedding model', async () => {
    const { app, ada } = await setUp({ models: [createDemoProvider()] });
    const orbit = await addSession(app, ada, 'Notes', ['The moon orbits the earth.']);
    await addSession(app, ada, 'Kitchen', ['Bread needs flour and water.']);
    const { body } = await search(app, ada, { query: 'How does the moon orbit?' });
    expect(body).toMatchObject({ sessionIds: [orbit], scores: [{ matchingMessages: 1 }] });
  });

  it('reads own and shared sessions, and no text of others', async () => {
    const { app, ada, grace, requests } = await setUp();
    const mine = await addSession(app, ada, 'My cat');
    const shared = await addSession(app, grace, 'Shared', ['The cat of Grace.']);
    await addSession(app, grace, 'Secret cat', ['A private cat.']);
    await shareWith(app, grace, `session/${shared}`, ada);
    const { body } = await search(app, ada, { query: 'cat' });
    expect(body.sessionIds.toSorted()).toEqual([mine, shared].toSorted());
    expect(requests.flat().toSorted()).toEqual(['My cat', 'Shared', 'The cat of Grace.', 'cat'].toSorted());
    await callAs(app, grace, 'POST', `/api/session/${shared}/revokeSharing`, {});
    expect((await search(app, ada, { query: 'cat' })).body.sessionIds).toEqual([mine]);
  });

  it('reads a bounded number of texts, and a bounded part of each', async () => {
    const { app, ada, requests } = await setUp({ credits: 1_000_000 });
    for (let index = 0; index < 105; index++) {
      const messages = new Array<string>(index < 5 ? 40 : 2).fill('x'.repeat(3000));
      await addSession(app, ada, `Session ${index}`, messages, NOW - index);
    }
    expect((await search(app, ada, { query: 'x' })).status).toBe(200);
    const texts = requests.flat();
    expect(texts.filter((text) => text.startsWith('Session'))).toHaveLength(100);
    expect(texts).not.toContain('Session 104');
    const messages = texts.filter((text) => text.startsWith('xx'));
    expect(messages).toHaveLength(200);
    expect(Math.max(...messages.map(({ length }) => length))).toBe(1000);
    // Providers accept at most 100 texts per request.
    expect(Math.max(...requests.map(({ length }) => length))).toBeLessThanOrEqual(100);
  });

  it('finds the messages of a session behind the many newer ones of another', async () => {
    const { app, ada } = await setUp();
    const short = await addSession(app, ada, 'Short', ['A cat.'], NOW - 1);
    await addSession(app, ada, 'Long', new Array<string>(600).fill('Tea.'));
    const { body } = await search(app, ada, { query: 'cat' });
    expect(body).toMatchObject({ sessionIds: [short], scores: [{ matchingMessages: 1 }] });
  });

  it('stops when the client disconnects, without a charge and without a report to the host', async () => {
    const leaving = new AbortController();
    const { app, ada } = await setUp({}, () => {
      leaving.abort();
      throw new ProviderError('failed', 'aborted');
    });
    await addSession(app, ada, 'Pets');
    const credential = await app.token();
    const answer = await app.ask('POST', PATH, {
      credential,
      body: { query: 'cat' },
      signal: leaving.signal,
    });
    const { error } = (await answer.json()) as { error: { message: string } };
    expect([answer.status, error.message]).toEqual([400, 'The client disconnected before the answer began']);
    expect(app.incidents).toEqual([]);
    expect(await app.ledger.balance(app.account)).toMatchObject({ held: 0, available: fromCredits(1000) });
  });
});

describe('charge of a semantic search', () => {
  it('is one charge for all texts, for the usage that the provider reports', async () => {
    const { app, ada } = await setUp();
    await addSession(app, ada, 'Pets', new Array<string>(20).fill('A cat.'));
    await addSession(app, ada, 'Others', new Array<string>(20).fill('A dog.'));
    await addSession(app, ada, 'More', new Array<string>(20).fill('Tea.'));
    await addSession(app, ada, 'Last', new Array<string>(20).fill('Rain.'));
    await search(app, ada, { query: 'cat' });
    const charges = await app.ledger.charges({ account: app.account }, 10);
    expect(charges).toMatchObject([
      { operation: 'searchSessions', model: 'vectors', status: 'settled', amount: fromCredits(85) },
    ]);
    expect(await app.ledger.balance(app.account)).toMatchObject({ held: 0, available: fromCredits(915) });
  });

  it('is zero without any session to search', async () => {
    const { app, ada, requests } = await setUp();
    const { body } = await search(app, ada, { query: 'cat' });
    expect(body).toEqual({ sessionIds: [], count: 0, scores: [] });
    expect(requests).toEqual([]);
    expect(await app.ledger.charges({ account: app.account }, 10)).toEqual([]);
  });

  it('is zero when the provider fails, and no hold remains', async () => {
    for (const answer of [
      () => {
        throw new ProviderError('failed', 'secret words');
      },
      (inputs: readonly string[]) => ({ embeddings: inputs.slice(1).map(() => [1, 2]), tokens: 3 }),
    ]) {
      const { app, ada } = await setUp({}, answer);
      await addSession(app, ada, 'Pets');
      const { status, body } = await search(app, ada, { query: 'cat' });
      expect([status, body.error.code]).toEqual([502, 'PROVIDER_ERROR']);
      expect(JSON.stringify(body)).not.toContain('secret');
      expect(await app.ledger.balance(app.account)).toMatchObject({ held: 0, available: fromCredits(1000) });
    }
  });

  it('is rejected without credit, before the provider is called', async () => {
    const { app, ada, requests } = await setUp({ credits: 1 });
    await addSession(app, ada, 'Pets');
    const { status, body } = await search(app, ada, { query: 'cat' });
    expect([status, body.error.code]).toEqual([422, 'INSUFFICIENT_CREDITS']);
    expect(requests).toEqual([]);
  });
});

describe('model of a semantic search', () => {
  const models = (...infos: readonly ModelInfo[]) => {
    const requests: string[][] = [];
    return [{ ...provider(requests), models: () => infos }];
  };
  const { prices: _, ...FREE } = INFO;
  const searchWith = async (infos: readonly ModelInfo[], settings: TestAppOptions['settings'] = {}) => {
    const { app, ada } = await setUp({ models: models(...infos), settings });
    await addSession(app, ada, 'Pets');
    const { status, body } = await search(app, ada, { query: 'cat' });
    const [charge] = await app.ledger.charges({ account: app.account }, 1);
    return { status, message: body.error?.message, model: charge?.model };
  };

  it('is the first one with a price', async () => {
    const found = await searchWith([{ ...FREE, id: 'free' }, INFO, { ...INFO, id: 'other' }]);
    expect(found).toMatchObject({ status: 200, model: 'vectors' });
  });

  it('needs no price while metering is off', async () => {
    const settings = { admin: { enforceCredits: false } };
    expect((await searchWith([FREE], settings)).status).toBe(200);
    expect(await searchWith([FREE, { ...INFO, id: 'other' }], settings)).toMatchObject({ model: 'vectors' });
    const refused = await searchWith([FREE]);
    expect(refused.status).toBe(422);
    expect(refused.message).not.toContain('No embedding model');
  });

  it('is the one of the operator', async () => {
    const settings = { dataLakes: { embeddingModel: 'other' } };
    expect(await searchWith([INFO, { ...INFO, id: 'other' }], settings)).toMatchObject({ model: 'other' });
  });

  it('must exist', async () => {
    const { status, message } = await searchWith([{ ...INFO, type: 'text' }]);
    expect([status, message]).toEqual([422, 'No embedding model is available on this server']);
  });
});
