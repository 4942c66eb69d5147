import { defineCollection, type Filter, type Patch, type StoredRecord } from '@questline/core/ports';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSqlStore, migrate } from '../src/index.ts';
import { createSqliteDatabase } from '../src/sqlite/database.ts';
import { ENGINES } from './engines.ts';

interface Fruit extends StoredRecord {
  readonly colour?: string;
  readonly weight?: number;
}

const fruits = defineCollection<Fruit>({
  name: 'fruits',
  columns: { colour: 'text', weight: 'integer' },
  unique: [],
  indexes: [],
});

const ID = 'a'.repeat(24);

/** Filters whose texts differ in a small part, with whether they match the only record. */
const FILTERS: readonly (readonly [Filter<Fruit>, boolean])[] = [
  [{}, true],
  [{ anyOf: [] }, false],
  [{ anyOf: [{}] }, true],
  [{ anyOf: [{}, { colour: 'red' }] }, true],
  [{ anyOf: [{ colour: 'red' }, { weight: 3 }] }, true],
  [{ anyOf: [{ colour: 'red', weight: 3 }] }, false],
  [{ colour: 'green' }, true],
  [{ colour: 'red' }, false],
  [{ colour: null }, false],
  [{ colour: { not: null } }, true],
  [{ colour: { not: 'red' } }, true],
  [{ colour: { in: ['red', 'green'] } }, true],
  [{ colour: { in: ['red'] } }, false],
  [{ weight: { gt: 2, lt: 4 } }, true],
  [{ weight: { lt: 2, gt: 4 } }, false],
  [{ weight: { gte: 4 } }, false],
  [{ colour: { contains: 'REE' } }, true],
];

it.each([
  ['in this order', FILTERS],
  ['in the opposite order', FILTERS.toReversed()],
])('no filter is read with the text of another one: %s', async (_name, filters) => {
  const database = createSqliteDatabase({ path: ':memory:' });
  onTestFinished(() => database.close());
  await migrate(database, { collections: [fruits] });
  const collection = createSqlStore(database).collection(fruits);
  await collection.insert({ id: ID, colour: 'green', weight: 3 });
  for (const [filter, matches] of filters) {
    const label = JSON.stringify(filter);
    expect((await collection.get(ID, filter)) !== undefined, `get ${label}`).toBe(matches);
    expect(await collection.find(filter), `find ${label}`).toHaveLength(matches ? 1 : 0);
    expect(await collection.count(filter), `count ${label}`).toBe(matches ? 1 : 0);
  }
  const pages = [{}, { limit: 1 }, { offset: 1 }, { after: { value: 0, id: 'b'.repeat(24) } }];
  const sizes = await Promise.all(pages.map(async (page) => (await collection.find({}, page)).length));
  expect(sizes).toEqual([1, 1, 0, 0]);
});

/** Patches whose texts differ in a small part, with the record afterwards. */
const PATCHES: readonly (readonly [Patch<Fruit>, Filter<Fruit> | undefined, Partial<Fruit>])[] = [
  [{}, undefined, { colour: 'green', weight: 3 }],
  [{ weight: 4 }, undefined, { colour: 'green', weight: 4 }],
  [{ colour: 'red' }, undefined, { colour: 'red', weight: 3 }],
  [{ colour: 'red', weight: 4 }, undefined, { colour: 'red', weight: 4 }],
  [{ colour: undefined }, undefined, { weight: 3 }],
  [{ weight: undefined }, undefined, { colour: 'green' }],
  [{ colour: undefined, weight: 4 }, undefined, { weight: 4 }],
  [{ colour: undefined, weight: undefined }, undefined, {}],
  [{ weight: 4 }, { colour: 'green' }, { colour: 'green', weight: 4 }],
  [{ weight: 4 }, { weight: 3, colour: { in: ['green'] } }, { colour: 'green', weight: 4 }],
  [{ weight: 4 }, { colour: 'red' }, { colour: 'green', weight: 3 }],
];

describe.each(ENGINES)('$name', (engine) => {
  it.each([
    ['in this order', PATCHES],
    ['in the opposite order', PATCHES.toReversed()],
  ])('no patch is written with the text of another one: %s', async (_name, patches) => {
    const { database, close } = await engine.open();
    onTestFinished(close);
    await migrate(database, { collections: [fruits] });
    const collection = createSqlStore(database).collection(fruits);
    for (const [patch, guard, expected] of patches) {
      await collection.insert({ id: ID, colour: 'green', weight: 3 });
      await collection.update(ID, patch, guard);
      expect(await collection.take(ID), JSON.stringify([patch, guard])).toEqual({ id: ID, ...expected });
    }
  });
});
