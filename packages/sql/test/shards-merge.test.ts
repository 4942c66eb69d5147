import { createMemoryStore } from '@questline/core/memory';
import {
  type Collection,
  defineCollection,
  type Filter,
  type FindOptions,
  type StoredRecord,
} from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { compareValues, countInAll, findInAll } from '../src/shards/merge.ts';

interface Letter extends StoredRecord {
  readonly name: string;
  readonly rank?: number;
}

const LETTERS = defineCollection<Letter>({
  name: 'letters',
  columns: { name: 'text', rank: 'integer' },
  unique: [],
  indexes: [],
});

async function open(records: readonly Letter[]) {
  const inner = createMemoryStore().collection(LETTERS);
  for (const record of records) await inner.insert(record);
  const limits: (number | undefined)[] = [];
  const collection: Pick<Collection<Letter>, 'find' | 'count'> = {
    async find(filter, options) {
      const { offset = 0 } = options ?? {};
      if (offset < 0 || !Number.isInteger(offset)) throw new RangeError('no such offset');
      if (limits.push(options?.limit) > 500) throw new Error('asked too often');
      return inner.find(filter, options);
    },
    count: (filter, options) => inner.count(filter, options),
  };
  return { collection, limits };
}

/** Several databases, and one with all of their records. */
async function setUp(lists: readonly (readonly Letter[])[]) {
  const parts = await Promise.all(lists.map(open));
  const whole = await open(lists.flat());
  return { parts, whole: whole.collection, collections: parts.map(({ collection }) => collection) };
}

const letter = (id: string, name: string, rank?: number): Letter => ({
  ...{ id, name },
  ...(rank !== undefined && { rank }),
});

const SPREAD = [
  [letter('b', 'same', 2), letter('e', 'x', 9), letter('g', '\u{1f600}')],
  [letter('a', 'same', 2), letter('d', '\uffff', -1), letter('h', 'sam')],
  [letter('c', 'same', 1), letter('f', 'X', 9), letter('i', '')],
];

const many = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, at) => letter(`${prefix}${at}`, prefix, at % 7));

describe('the records of several databases', () => {
  const orders = [undefined, 'id', 'name', 'rank'].flatMap((field) =>
    (['asc', 'desc'] as const).map((direction) => ({ field, direction })),
  );

  it.each(orders)('are in the order of one database: $field $direction', async ({ field, direction }) => {
    const { collections, whole } = await setUp(SPREAD);
    const options = field === undefined ? {} : { order: { field: field as 'name', direction } };
    const filters: readonly Filter<Letter>[] = [{}, { name: 'same' }, { rank: { gte: 2 } }, { name: 'none' }];
    for (const filter of filters) {
      const all = await whole.find(filter, options);
      expect(await findInAll(collections, filter, options)).toEqual(all);
      for (let offset = 0; offset < 10; offset += 1) {
        for (let limit = 1; limit < 10; limit += 1) {
          const page = await findInAll(collections, filter, { ...options, offset, limit });
          expect(page).toEqual(all.slice(offset, offset + limit));
        }
      }
    }
  });

  it('go on after a record', async () => {
    const { collections, whole } = await setUp(SPREAD);
    for (const direction of ['asc', 'desc'] as const) {
      const order = { field: 'name', direction } as const;
      for (const { id, name } of await whole.find({}, { order })) {
        const options: FindOptions<Letter> = { order, after: { value: name, id }, limit: 3 };
        expect(await findInAll(collections, {}, options)).toEqual(await whole.find({}, options));
      }
    }
  });

  it('are as many as one database returns, read in as few pages', async () => {
    const { parts, collections, whole } = await setUp([many('a', 1001), many('b', 1500), many('c', 3)]);
    const order = { field: 'rank', direction: 'desc' } as const;
    expect(await findInAll(collections, {})).toEqual(await whole.find({}));
    expect(parts.map(({ limits }) => limits.splice(0))).toEqual([[1000], [1000], [1000]]);
    const options = { order, offset: 1100, limit: 1000 };
    expect(await findInAll(collections, {}, options)).toEqual(await whole.find({}, options));
    expect(parts.map(({ limits }) => limits)).toEqual([[1000, 1000], [1000, 1000], [1000]]);
  });

  it('are as many as are asked for, beyond the first page', async () => {
    const { parts, collections, whole } = await setUp([many('a', 1500), many('b', 3)]);
    const options = { offset: 1150, limit: 50 };
    expect(await findInAll(collections, {}, options)).toEqual(await whole.find({}, options));
    expect(parts.map(({ limits }) => limits)).toEqual([[1000, 200], [1000]]);
  });

  it('are each there once while an owner moves', async () => {
    const { collections } = await setUp([SPREAD[0] ?? [], SPREAD[0] ?? [], SPREAD[1] ?? []]);
    const ids = (await findInAll(collections, {})).map(({ id }) => id);
    expect(ids).toEqual(['a', 'b', 'd', 'e', 'g', 'h']);
    expect(await countInAll(collections, {}, undefined, true)).toBe(6);
    expect(await countInAll(collections, { name: 'same' }, undefined, true)).toBe(2);
    expect(await countInAll(collections.slice(0, 2), {}, undefined, true)).toBe(3);
  });

  it('are counted in every database', async () => {
    const { parts, collections } = await setUp([many('a', 1200), many('b', 30), []]);
    expect(await countInAll(collections, {}, undefined, false)).toBe(1230);
    expect(await countInAll(collections.slice(0, 1), {}, undefined, true)).toBe(1200);
    expect(parts.map(({ limits }) => limits)).toEqual([[], [], []]);
    expect(await countInAll(collections, {}, undefined, true)).toBe(1230);
    expect(await countInAll(collections, {}, { signal: AbortSignal.abort('left') }, true).catch(String)).toBe(
      await collections[0]?.find({}, { signal: AbortSignal.abort('left') }).then(() => 1230, String),
    );
  });

  it.each([
    { limit: 0 },
    { limit: 0, offset: 1 },
    { limit: 1001 },
    { limit: 1.5 },
    { offset: -1 },
    { offset: 0.5 },
  ])('are refused with the error of one database: %j', async (options) => {
    const { collections, whole } = await setUp(SPREAD);
    const refused = await whole.find({}, options).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Error);
    await expect(findInAll(collections, {}, options)).rejects.toEqual(refused);
    await expect(findInAll(collections.slice(0, 1), {}, options)).rejects.toEqual(refused);
    expect(await findInAll([], {}, options)).toEqual([]);
  });

  it('are read from one database as the caller says', async () => {
    const { parts, collections } = await setUp([SPREAD[0] ?? []]);
    expect(await findInAll(collections, {}, { offset: 1 })).toEqual(SPREAD[0]?.slice(1));
    expect(parts.map(({ limits }) => limits)).toEqual([[undefined]]);
  });
});

it('compares values like the engines', () => {
  const ordered = [null, '', 'a', 'ab', 'a\u{1f600}', 'b', '\uffff', '\uffffa', '\u{1f600}'];
  for (const [at, one] of ordered.entries()) {
    for (const [place, other] of ordered.entries()) {
      expect(Math.sign(compareValues(one, other))).toBe(Math.sign(at - place));
    }
  }
  expect(compareValues(undefined, null)).toBe(0);
  expect([compareValues(undefined, 1), compareValues(1, null)]).toEqual([-1, 1]);
  expect([compareValues(2, 10), compareValues(true, false), compareValues('2', 10)]).toEqual([-8, 1, -8]);
});
