import { createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { delayed } from '../../../test/delayed.ts';
import { createMemoryStore } from '../../memory/store.ts';
import type { NewMemento } from './extract.ts';
import { keepMementos } from './keep.ts';
import { relevant } from './recall.ts';
import { MAX_MEMENTOS, MEMENTOS } from './records.ts';

const ownerId = 'u';

async function setUp() {
  const store = createMemoryStore();
  const mementos = store.collection(MEMENTOS);
  return {
    mementos,
    keep: (now: number, ...found: NewMemento[]) =>
      keepMementos(
        { ids: createFakeIds(now) },
        delayed(store),
        { ownerId, sessionId: `s${now}`, now },
        found,
      ),
    all: () => mementos.find({ ownerId }, { order: { field: 'updatedAt', direction: 'asc' } }),
  };
}

const fact = (text: string, isStanding = false): NewMemento => ({ text, isStanding });

describe('a memento that is kept', () => {
  it.each([
    [[false], false],
    [[true], true],
    [[true, false], true],
    [[false, true], true],
    [[false, false], false],
    [[false, true, false], true],
  ])('stands from when a turn said so: %j', async (said, expected) => {
    const { keep, all } = await setUp();
    for (const [at, isStanding] of said.entries()) {
      await keep(at + 1, fact('The user wants short answers.', isStanding));
    }
    expect(await all()).toMatchObject([
      { isStanding: expected, createdAt: 1, updatedAt: said.length, sessionId: `s${said.length}` },
    ]);
  });

  it('replaces the most recent one of those that it repeats', async () => {
    const words = ['bees', 'Oslo', 'garden', 'honey', 'sells', 'market', 'sunday', 'father'];
    const [all = '', one = '', other = ''] = [words, words.slice(1), words.slice(0, -1)].map((list) =>
      list.join(' '),
    );
    for (const [first, last] of [
      [one, other],
      [other, one],
    ] as const) {
      const set = await setUp();
      await set.keep(1, fact(first));
      // Stored as it is: the two differ in two of eight words, less than is the same.
      await set.keep(2, fact(last));
      expect((await set.all()).map(({ text }) => text)).toEqual([first, last]);
      await set.keep(3, fact(all));
      expect((await set.all()).map(({ text, createdAt }) => [text, createdAt])).toEqual([
        [first, 1],
        [all, 2],
      ]);
    }
  });
});

describe('mementos at their maximum', () => {
  const fill = async () => {
    const set = await setUp();
    for (let at = 1; at <= MAX_MEMENTOS; at += 1) await set.keep(at, fact(`Thing${at} ${at}`));
    return set;
  };

  it('stay all when one of them is repeated, which keeps its id', async () => {
    const { keep, all } = await fill();
    const before = await all();
    await keep(MAX_MEMENTOS + 1, fact('Thing1 1'));
    const after = await all();
    expect(after).toHaveLength(MAX_MEMENTOS);
    expect(after.at(-1)).toMatchObject({ id: before[0]?.id, text: 'Thing1 1', createdAt: 1 });
    expect(new Set(after.map(({ id }) => id))).toEqual(new Set(before.map(({ id }) => id)));
  });

  it('lose those that were mentioned least recently, however many are new', async () => {
    const { keep, all } = await fill();
    await keep(MAX_MEMENTOS + 1, fact('Thing1 1'));
    await keep(MAX_MEMENTOS + 2, fact('Fresh bread'), fact('Green tea'), fact('Old songs'));
    const texts = (await all()).map(({ text }) => text);
    expect(texts).toHaveLength(MAX_MEMENTOS);
    for (const gone of ['Thing2 2', 'Thing3 3', 'Thing4 4']) expect(texts).not.toContain(gone);
    for (const kept of ['Thing1 1', 'Thing5 5', 'Fresh bread', 'Old songs']) expect(texts).toContain(kept);
  });

  it('are not changed by what has no words', async () => {
    const { keep, all } = await setUp();
    await keep(1);
    await keep(2, fact('...'), fact('The user is'));
    expect(await all()).toEqual([]);
  });
});

describe('recalled mementos', () => {
  it('begin with those of rare words, which weigh more than several common ones', () => {
    const common = Array.from({ length: 4 }, (_, at) => `Honey market ${'abcd'[at]}${at}`);
    const known = [...common, 'Grandfather'].map((text) => ({
      ...{ id: text, ownerId, text, fingerprint: text, isStanding: false },
      ...{ sessionId: 's', createdAt: 0, updatedAt: 0 },
    }));
    expect(relevant(known, 'My grandfather sold honey at the market').map(({ text }) => text)).toEqual([
      'Grandfather',
      ...common,
    ]);
    const standing = known.map((one, at) => ({ ...one, isStanding: at === 0 }));
    // A standing one is recalled once, also where it matches.
    expect(relevant(standing, 'My grandfather sold honey').map(({ text }) => text)).toEqual([
      common[0],
      'Grandfather',
      ...common.slice(1),
    ]);
  });

  const texts = [
    'The user keeps bees.',
    'The user sells honey.',
    'The user keeps bees near Oslo and sells honey.',
  ];

  it.each([[[0, 1, 2]], [[0, 2, 1]], [[1, 0, 2]], [[1, 2, 0]], [[2, 0, 1]], [[2, 1, 0]]])(
    'begin with the best match, and equal matches keep their order: %j',
    (order) => {
      const known = order.map((place) => ({
        ...{ id: `${place}`, ownerId, text: texts[place] ?? '', fingerprint: `${place}`, isStanding: false },
        ...{ sessionId: 's', createdAt: 0, updatedAt: 0 },
      }));
      const recalled = relevant(known, 'Who buys honey of my bees in Oslo?').map(({ id }) => Number(id));
      expect(recalled).toEqual([2, ...order.filter((place) => place !== 2)]);
    },
  );
});
