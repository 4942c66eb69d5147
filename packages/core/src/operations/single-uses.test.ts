import { createFakeClock } from '@questline/testing';
import { expect, it } from 'vitest';
import { createMemoryStore } from '../memory/store.ts';
import type { Store } from '../ports/store.ts';
import { createIdempotency } from './idempotency.ts';
import { IDEMPOTENCY } from './idempotency-records.ts';

const DAY_MS = 24 * 3_600_000;

function setUp() {
  const clock = createFakeClock();
  const store = createMemoryStore();
  const idempotency = createIdempotency({ store, clock });
  const use = (names: readonly string[], workId: string, userId = 'ada') =>
    idempotency.useUp({ names, workId, userId });
  return { clock, store, idempotency, use };
}

it('lets one work use a name for 30 days, also several times', async () => {
  const { clock, store, idempotency, use } = setUp();
  expect(await use(['a'], 'first')).toBeUndefined();
  expect(await use(['a'], 'second')).toBe('a');
  expect(await use(['a'], 'first')).toBeUndefined();
  await clock.advance(30 * DAY_MS - 1);
  await idempotency.sweep();
  expect(await use(['a'], 'second')).toBe('a');
  await clock.advance(1);
  expect(await use(['a'], 'second')).toBeUndefined();
  expect(await use(['a'], 'first')).toBe('a');
  await clock.advance(30 * DAY_MS);
  await idempotency.sweep();
  expect(await store.collection(IDEMPOTENCY).count({})).toBe(0);
});

it('uses up all names or none', async () => {
  const { use } = setUp();
  await use(['b'], 'first');
  expect(await use(['c', 'b', 'a', 'c'], 'second')).toBe('b');
  expect(await use(['a', 'c', 'a'], 'third')).toBeUndefined();
  expect(await use(['a'], 'second')).toBe('a');
});

it('keeps the names of users apart', async () => {
  const { use } = setUp();
  expect(await use(['a'], 'first')).toBeUndefined();
  expect(await use(['a'], 'second', 'bob')).toBeUndefined();
});

it('finds a name that other work has used, and uses none', async () => {
  const { clock, idempotency, use } = setUp();
  const find = (workId: string, userId = 'ada') =>
    idempotency.findUsed({ names: ['b', 'a'], workId, userId });
  expect(await find('first')).toBeUndefined();
  await use(['a'], 'first');
  expect([await find('first'), await find('second'), await find('second', 'bob')]).toEqual([
    undefined,
    'a',
    undefined,
  ]);
  await clock.advance(30 * DAY_MS);
  expect(await find('second')).toBeUndefined();
});

it('reports a store that fails', async () => {
  const store = createMemoryStore();
  const away = { ...store, transaction: () => Promise.reject(new Error('away')) };
  const idempotency = createIdempotency({ store: away, clock: createFakeClock() });
  await expect(idempotency.useUp({ names: ['a'], workId: 'w', userId: 'ada' })).rejects.toThrow('away');
});

it('reports a store that fails while it deletes an expired name', async () => {
  const store = createMemoryStore();
  const records = { ...store.collection(IDEMPOTENCY), take: () => Promise.reject(new Error('away')) };
  const inner = { ...store, collection: () => records as never };
  const away = { ...store, transaction: <T>(work: (where: Store) => Promise<T>) => work(inner) };
  const idempotency = createIdempotency({ store: away, clock: createFakeClock() });
  await expect(idempotency.useUp({ names: ['a'], workId: 'w', userId: 'ada' })).rejects.toThrow('away');
});

it('uses up a name that became free before the transaction ran again', async () => {
  const { store, clock, use } = setUp();
  await use(['a'], 'first');
  const records = store.collection(IDEMPOTENCY);
  const conflicting: Store = {
    ...store,
    async transaction(work, options) {
      await store.transaction(work, options).catch(() => undefined);
      for (const { id } of await records.find({})) await records.take(id);
      return store.transaction(work, options);
    },
  };
  const idempotency = createIdempotency({ store: conflicting, clock });
  expect(await idempotency.useUp({ names: ['a'], workId: 'second', userId: 'ada' })).toBeUndefined();
  expect(await use(['a'], 'first')).toBe('a');
});

it('keeps the user with the name, so that both are deleted together', async () => {
  const { store, use } = setUp();
  await use(['a'], 'first');
  const [record] = await store.collection(IDEMPOTENCY).find({});
  expect(JSON.parse(record?.answer ?? '')).toEqual({ userId: 'ada' });
});
