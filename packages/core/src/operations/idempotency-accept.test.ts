import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import type { Call } from '../contract/call.ts';
import { createMemoryStore } from '../memory/store.ts';
import { defineCollection, type Store, type StoredRecord } from '../ports/store.ts';
import { writeInTransaction, writesTo } from '../ports/write-all.ts';
import {
  type AcceptedWork,
  type CompletingWrite,
  createIdempotency,
  type IdempotentRequest,
} from './idempotency.ts';
import { IDEMPOTENCY } from './idempotency-records.ts';

const DAY_MS = 24 * 3_600_000;

interface Thing extends StoredRecord {
  readonly by: string;
}

const THINGS = defineCollection<Thing>({ name: 'things', columns: {}, unique: [], indexes: [] });

function request(key: string | undefined, body: unknown = {}): IdempotentRequest {
  const headers = key === undefined ? {} : { 'idempotency-key': key };
  const call = { caller: { kind: 'token', userId: 'ada' }, request: { headers } } as unknown as Call;
  return { call, path: '/things', body };
}

/** A store that writes in one step. */
function createWholeStore(): Store {
  const store = createMemoryStore();
  return { ...store, writeAll: (writes) => writeInTransaction(store, writes) };
}

function setUp(store: Store) {
  const clock = createFakeClock();
  const idempotency = createIdempotency({ store, clock });
  let prepared = 0;
  /** Each work stores a thing of its own number; the answer is the number. */
  const prepare = async (): Promise<AcceptedWork<number>> => {
    prepared += 1;
    const answer = prepared;
    return {
      answer,
      write: async (where) => void (await where.collection(THINGS).insert({ id: `${answer}`, by: 'write' })),
      toWrites: () => [writesTo(THINGS).insert({ id: `${answer}`, by: 'writes' })],
    };
  };
  const things = async () => (await store.collection(THINGS).find({})).map(({ id, by }) => `${id} ${by}`);
  const kept = () => store.collection(IDEMPOTENCY).find({});
  return { clock, idempotency, prepare, things, kept, countPrepared: () => prepared };
}

const complete = (answer: number): CompletingWrite => ({
  write: writesTo(THINGS).insert({ id: `last-${answer}`, by: 'caller' }),
});

describe.each([
  ['without a write in one step', createMemoryStore, 'write'],
  ['with a write in one step', createWholeStore, 'writes'],
] as const)('a store %s', (_name, createStore, by) => {
  it('stores work once per key within 24 hours', async () => {
    const { clock, idempotency, prepare, things, kept, countPrepared } = setUp(createStore());
    const first = await idempotency.accept(request('a'), prepare);
    expect(first).toEqual({ answer: 1, isRepeated: false, isRepeatable: true, isWhole: false });
    await clock.advance(DAY_MS - 1);
    const second = await idempotency.accept(request('a'), prepare);
    expect(second).toEqual({ answer: 1, isRepeated: true, isRepeatable: true, isWhole: false });
    expect(countPrepared()).toBe(1);
    expect(await things()).toEqual([`1 ${by}`]);
    await clock.advance(1);
    expect(await idempotency.accept(request('a'), prepare)).toEqual({ ...first, answer: 2 });
    expect(await things()).toEqual([`1 ${by}`, `2 ${by}`]);
    expect(await kept()).toHaveLength(1);
  });

  it('stores work without a key each time', async () => {
    const { idempotency, prepare, things, kept } = setUp(createStore());
    const first = await idempotency.accept(request(undefined), prepare);
    expect(first).toEqual({ answer: 1, isRepeated: false, isRepeatable: false, isWhole: false });
    expect(await idempotency.accept(request(undefined), prepare)).toEqual({ ...first, answer: 2 });
    expect(await things()).toEqual([`1 ${by}`, `2 ${by}`]);
    expect(await kept()).toEqual([]);
  });

  it('refuses a key with another body', async () => {
    const { idempotency, prepare, things } = setUp(createStore());
    await idempotency.accept(request('a', { x: 1 }), prepare);
    const other = idempotency.accept(request('a', { x: 2 }), prepare);
    await expect(other).rejects.toMatchObject({ status: 422, code: 'idempotency_key_reused' });
    expect(await things()).toHaveLength(1);
  });

  it('stores work again, once, after the first work is gone', async () => {
    const { clock, idempotency, prepare, things } = setUp(createStore());
    await idempotency.accept(request('a'), prepare);
    await clock.advance(1);
    const asked: number[] = [];
    const isGone = async (answer: number): Promise<boolean> => {
      asked.push(answer);
      return answer === 1;
    };
    const send = () => idempotency.accept<number>({ ...request('a'), isGone }, prepare);
    const all = await Promise.all([1, 2, 3].map(send));
    const [answer = 0] = all.filter(({ isRepeated }) => !isRepeated).map((one) => one.answer);
    expect(answer).toBeGreaterThan(1);
    expect(all.map((one) => one.answer)).toEqual([answer, answer, answer]);
    expect(all.filter(({ isRepeated }) => isRepeated)).toHaveLength(2);
    expect(asked).toContain(1);
    expect(await send()).toMatchObject({ answer, isRepeated: true });
    expect(await things()).toEqual([`1 ${by}`, `${answer} ${by}`]);
    const other = idempotency.accept<number>({ ...request('a', { x: 1 }), isGone }, prepare);
    await expect(other).rejects.toMatchObject({ code: 'idempotency_key_reused' });
  });

  it('gives all of several requests at once the answer of one', async () => {
    const { idempotency, prepare, things } = setUp(createStore());
    const all = await Promise.all([1, 2, 3].map(() => idempotency.accept(request('a'), prepare)));
    const [answer] = all.filter(({ isRepeated }) => !isRepeated).map((one) => one.answer);
    expect(all.map((one) => one.answer)).toEqual([answer, answer, answer]);
    expect(all.filter(({ isRepeated }) => isRepeated)).toHaveLength(2);
    expect(await things()).toEqual([`${answer} ${by}`]);
  });
});

it('writes the further write of the caller in one step with the work', async () => {
  const { idempotency, prepare, things } = setUp(createWholeStore());
  const named = await idempotency.accept(request('a'), prepare, complete);
  expect(named).toEqual({ answer: 1, isRepeated: false, isRepeatable: true, isWhole: true });
  const unnamed = await idempotency.accept(request(undefined), prepare, complete);
  expect(unnamed).toEqual({ answer: 2, isRepeated: false, isRepeatable: false, isWhole: true });
  expect(await things()).toEqual(['1 writes', '2 writes', 'last-1 caller', 'last-2 caller']);
  const repeated = await idempotency.accept(request('a'), prepare, complete);
  expect(repeated).toEqual({ answer: 1, isRepeated: true, isRepeatable: true, isWhole: false });
});

it('leaves the write to the caller where the caller builds none', async () => {
  const { idempotency, prepare, things } = setUp(createWholeStore());
  const none = (): undefined => undefined;
  expect(await idempotency.accept(request('a'), prepare, none)).toMatchObject({ isWhole: false });
  expect(await idempotency.accept(request(undefined), prepare, none)).toMatchObject({ isWhole: false });
  expect(await things()).toEqual(['1 writes', '2 writes']);
});

it('leaves the write to the caller where the store has no step', async () => {
  const { idempotency, prepare, things } = setUp(createMemoryStore());
  expect(await idempotency.accept(request('a'), prepare, complete)).toMatchObject({ isWhole: false });
  expect(await idempotency.accept(request(undefined), prepare, complete)).toMatchObject({ isWhole: false });
  expect(await things()).toEqual(['1 write', '2 write']);
});

it('decides with `write` where the step has no effect', async () => {
  const store = { ...createMemoryStore(), writeAll: async () => false };
  const { idempotency, prepare, things } = setUp(store);
  const named = await idempotency.accept(request('a'), prepare, complete);
  expect(named).toEqual({ answer: 1, isRepeated: false, isRepeatable: true, isWhole: false });
  const unnamed = await idempotency.accept(request(undefined), prepare, complete);
  expect(unnamed).toEqual({ answer: 2, isRepeated: false, isRepeatable: false, isWhole: false });
  expect(await things()).toEqual(['1 write', '2 write']);
  expect(await idempotency.accept(request('a'), prepare)).toMatchObject({ answer: 1, isRepeated: true });
});

it('stores work that knows no writes in a transaction', async () => {
  const { idempotency, prepare, things } = setUp(createWholeStore());
  const old = async (): Promise<AcceptedWork<number>> => {
    const { answer, write } = await prepare();
    return { answer, write };
  };
  expect(await idempotency.accept(request('a'), old, complete)).toMatchObject({ isWhole: false });
  expect(await idempotency.accept(request(undefined), old, complete)).toMatchObject({ isWhole: false });
  expect(await things()).toEqual(['1 write', '2 write']);
});

it('keeps no key for work that could not be stored', async () => {
  const { idempotency, prepare, things, kept } = setUp(createMemoryStore());
  const failing = async (): Promise<AcceptedWork<number>> => ({
    answer: 0,
    async write(where) {
      await where.collection(THINGS).insert({ id: 'half', by: 'write' });
      throw new Error('away');
    },
  });
  await expect(idempotency.accept(request('a'), failing)).rejects.toThrow('away');
  expect([await things(), await kept()]).toEqual([[], []]);
  await expect(idempotency.accept(request(undefined), failing)).rejects.toThrow('away');
  expect(await idempotency.accept(request('a'), prepare)).toMatchObject({ answer: 1, isRepeated: false });
});

it('keeps the key of another process that uses it after the first one expired', async () => {
  const store = createMemoryStore();
  const { clock, idempotency, prepare, things } = setUp(store);
  const other = createIdempotency({ store, clock });
  await idempotency.accept(request('a'), prepare);
  await clock.advance(DAY_MS);
  const records = store.collection(IDEMPOTENCY);
  let isFirst = true;
  const late = {
    ...records,
    // Between the read and the deletion of the expired key, the other process deletes it and uses it again.
    async get(id: string) {
      const known = await records.get(id);
      if (isFirst) {
        isFirst = false;
        await other.accept(request('a'), prepare);
      }
      return known;
    },
  };
  const slow = createIdempotency({ store: { ...store, collection: () => late as never }, clock });
  expect(await slow.accept(request('a'), prepare)).toMatchObject({ answer: 2, isRepeated: true });
  expect(await things()).toEqual(['1 write', '2 write']);
});

it('does not hide a record that disappeared', async () => {
  const store = createMemoryStore();
  const { clock } = setUp(store);
  const away: Store = { ...store, transaction: async () => false as never };
  const { prepare } = setUp(away);
  const idempotency = createIdempotency({ store: away, clock });
  await expect(idempotency.accept(request('a'), prepare)).rejects.toThrow('disappeared');
});
