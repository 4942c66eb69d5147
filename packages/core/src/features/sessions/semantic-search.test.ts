import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../memory/store.ts';
import type { Store } from '../../ports/store.ts';
import { MESSAGES, SESSIONS, type SessionRecord } from './records.ts';
import { findSearchedTexts, rankSessions, type SearchedText } from './semantic-search.ts';

const SESSION: SessionRecord = { id: 's', ownerId: 'ada', name: 'n', firstCreated: 0, lastUpdated: 0 };

async function fill(sessions: readonly Partial<SessionRecord>[]) {
  const store = createMemoryStore();
  for (const session of sessions) await store.collection(SESSIONS).insert({ ...SESSION, ...session });
  const say = async (sessionId: string, texts: readonly string[], from = 0) => {
    for (const [at, content] of texts.entries()) {
      const id = `${sessionId} ${String(from + at).padStart(4, '0')}`;
      const message = { id, sessionId, ownerId: 'ada', role: 'user', content, createdAt: from + at } as const;
      await store.collection(MESSAGES).insert(message);
    }
  };
  const find = async (where: Store = store) =>
    (await findSearchedTexts(where, 'ada', {})).map(({ session, isMessage, text }) => [
      session.id,
      isMessage,
      text,
    ]);
  return { store, say, find };
}

const numbered = (count: number) => Array.from({ length: count }, (_, at) => `${at}`);

describe('the texts that a search reads', () => {
  it('are names with summaries, the last changed session first, and messages, the newest first', async () => {
    const { say, find } = await fill([
      { id: 'a', name: 'A', lastUpdated: 1 },
      { id: 'b', name: 'B', summary: 'Bees.', lastUpdated: 2 },
      { id: 'other', ownerId: 'grace' },
    ]);
    await say('a', ['one', '  ', 'two']);
    await say('b', ['three'], 1);
    await say('other', ['secret']);
    expect(await find()).toEqual([
      ['b', false, 'B\nBees.'],
      ['a', false, 'A'],
      ['a', true, 'two'],
      ['b', true, 'three'],
      ['a', true, 'one'],
    ]);
  });

  it('are cut after 1000 characters, and have no half characters', async () => {
    const { say, find } = await fill([{ name: 'x\ud800' }]);
    await say('s', ['😀'.repeat(1001)]);
    expect(await find()).toEqual([
      ['s', false, 'x\ufffd'],
      ['s', true, '😀'.repeat(1000)],
    ]);
  });

  it.each([
    [19, 19],
    [20, 20],
    [21, 20],
    [70, 20],
  ])('are, of %i messages of a session, the newest %i', async (count, expected) => {
    const { say, find } = await fill([{}]);
    await say('s', numbered(count));
    const texts = (await find()).slice(1).map(([, , text]) => text);
    expect(texts).toEqual(numbered(count).toReversed().slice(0, expected));
  });

  it('are at most 100 sessions and 200 messages, of which one read returns 25', async () => {
    const many = Array.from({ length: 101 }, (_, at) => ({ id: `s${at}`, lastUpdated: 1000 - at }));
    const { store, say, find } = await fill(many);
    for (const { id } of many.slice(0, 100)) await say(id, ['x', 'x', 'x']);
    const found = await find();
    expect(found.filter(([, isMessage]) => isMessage === false)).toHaveLength(100);
    expect(found.filter(([, isMessage]) => isMessage === true)).toHaveLength(200);
    expect(found.some(([id]) => id === 's100')).toBe(false);
    let reads = 0;
    const counting: Store = {
      ...store,
      collection(definition) {
        const collection = store.collection(definition);
        if (definition.name !== MESSAGES.name) return collection;
        return { ...collection, find: (...given) => (reads++, collection.find(...given)) };
      },
    };
    await find(counting);
    expect(reads).toBe(8);
  });

  it('contain each message once, across reads', async () => {
    const { say, find } = await fill([{ id: 'a' }, { id: 'b' }, { id: 'c' }]);
    for (const id of ['a', 'b', 'c'])
      await say(
        id,
        numbered(18).map((text) => `${id}${text}`),
      );
    const texts = (await find()).filter(([, isMessage]) => isMessage).map(([, , text]) => text);
    expect([texts.length, new Set(texts).size]).toEqual([54, 54]);
  });

  it('end within a read at 200 messages', async () => {
    const { say, find } = await fill(Array.from({ length: 90 }, (_, at) => ({ id: `s${at}` })));
    await say('s0', numbered(24), 100);
    for (let at = 1; at < 90; at += 1) await say(`s${at}`, ['x', 'x', 'x']);
    expect((await find()).filter(([, isMessage]) => isMessage)).toHaveLength(200);
  });

  it('are read until the caller leaves', async () => {
    const { store, say } = await fill([{}]);
    await say('s', ['x']);
    const signals: unknown[] = [];
    const seeing: Store = {
      ...store,
      collection(definition) {
        const collection = store.collection(definition);
        return {
          ...collection,
          find(filter, options) {
            signals.push(options?.signal);
            return collection.find(filter, options);
          },
        };
      },
    };
    const { signal } = new AbortController();
    await findSearchedTexts(seeing, 'ada', { signal });
    expect(signals).toEqual([signal, signal]);
  });

  it('need no read of messages without a session, and one for few messages', async () => {
    const reads: string[] = [];
    const { store, say, find } = await fill([]);
    const counting: Store = {
      ...store,
      collection(definition) {
        const collection = store.collection(definition);
        return {
          ...collection,
          find(...given) {
            reads.push(definition.name);
            return collection.find(...given);
          },
        };
      },
    };
    expect(await find(counting)).toEqual([]);
    expect(reads.splice(0)).toEqual(['sessions']);
    await store.collection(SESSIONS).insert(SESSION);
    await say('s', numbered(24));
    await find(counting);
    expect(reads).toEqual(['sessions', 'messages']);
  });
});

describe('the ranks of sessions', () => {
  const text = (id: string, isMessage = true): SearchedText => ({
    session: { ...SESSION, id, name: id.toUpperCase() },
    isMessage,
    text: '',
  });
  const rank = (
    texts: readonly SearchedText[],
    vectors: readonly (readonly number[])[],
    bounds: { limit?: number; minSimilarity?: number } = {},
    query: readonly number[] = [1, 0],
  ) => rankSessions(query, texts, vectors, { limit: 10, minSimilarity: 0.5, ...bounds });

  it('are those of the best text, with the number of similar messages', () => {
    const texts = [text('a', false), text('a'), text('a'), text('b'), text('c')];
    const vectors = [
      [3, 4],
      [0, 1],
      [4, 3],
      [2, 0],
      [0, 1],
    ];
    const [a, b] = [
      { sessionId: 'a', sessionName: 'A' },
      { sessionId: 'b', sessionName: 'B' },
    ];
    expect(rank(texts, vectors)).toEqual([
      { ...b, maxSimilarity: 1, matchingMessages: 1 },
      { ...a, maxSimilarity: expect.closeTo(0.8), matchingMessages: 1 },
    ]);
    expect(rank(texts, vectors, { limit: 1 })).toMatchObject([b]);
    // A worse text after the best one.
    expect(
      rank(
        [text('a'), text('a')],
        [
          [1, 0],
          [4, 3],
        ],
      ),
    ).toMatchObject([{ maxSimilarity: 1, matchingMessages: 2 }]);
  });

  it('include a text of exactly the least similarity', () => {
    expect(rank([text('a')], [[0, 1]], { minSimilarity: 0 })).toHaveLength(1);
    expect(rank([text('a')], [[-1, 0]], { minSimilarity: 0 })).toEqual([]);
  });

  it('leave out vectors without a direction, and texts without a vector', () => {
    expect(rank([text('a'), text('b')], [[0, 0]], { minSimilarity: -1 })).toEqual([]);
    expect(rank([text('a')], [[1, 0]], {}, [0, 0])).toEqual([]);
  });
});
