import { createMemoryStore } from '@questline/core/memory';
import { describe, expect, it } from 'vitest';
import { delayed } from '../../../test/delayed.ts';
import { writeAll } from '../../ports/write-all.ts';
import type { ApiError } from '../../shared/errors.ts';
import {
  countStorage,
  DEFAULT_STORAGE_QUOTAS,
  eraseUsage,
  expectStorage,
  giveStorageBack,
  requireStorage,
  STORAGE_USAGE,
  type StorageKind,
  storageReturn,
  storageWrite,
  takeStorage,
} from './usage.ts';

const ownerId = 'u'.repeat(24);
const amount = (bytes: number, kind: StorageKind = 'sessions') => ({ ownerId, kind, bytes });

/** A store, and what its counters show. */
function setUp() {
  const store = createMemoryStore();
  const read = async (kind: StorageKind = 'sessions', owner = ownerId) =>
    (await store.collection(STORAGE_USAGE).get(`${owner}:${kind}`))?.bytes;
  return { store: delayed(store), read };
}

const isRefused = (work: Promise<void>): Promise<boolean> =>
  work.then(
    () => false,
    (error: ApiError) => error.code === 'limit_exceeded',
  );

describe('use of storage', () => {
  it.each([
    ['without a check', (bytes: number) => ({ bytes, limit: null })],
    ['within a quota', (bytes: number) => ({ bytes, limit: 1000 })],
  ] as const)('is counted in full when many first writes meet, %s', async (_name, given) => {
    const { store, read } = setUp();
    const { bytes, limit } = given(10);
    const quotas = { ...DEFAULT_STORAGE_QUOTAS, sessions: limit };
    // Without transactions: only the guards of single steps separate them.
    await Promise.all(
      Array.from({ length: 50 }, () =>
        limit === null ? countStorage(store, amount(bytes)) : takeStorage(store, amount(bytes), quotas),
      ),
    );
    expect(await read()).toBe(500);
  });

  it.each([
    [1000, 10, 100],
    [1000, 11, 90],
    [9, 10, 0],
    [10, 10, 1],
  ])('of %i bytes at most takes parts of %i bytes exactly %i times', async (limit, bytes, times) => {
    const { store, read } = setUp();
    const quotas = { ...DEFAULT_STORAGE_QUOTAS, sessions: limit };
    const refused = await Promise.all(
      Array.from({ length: 110 }, () => isRefused(takeStorage(store, amount(bytes), quotas))),
    );
    expect(refused.filter((is) => !is)).toHaveLength(times);
    expect((await read()) ?? 0).toBe(times * bytes);
  });

  it('may exceed the quota without a check, and then refuses all checked work', async () => {
    const { store, read } = setUp();
    const quotas = { ...DEFAULT_STORAGE_QUOTAS, sessions: 100 };
    const check = async () => requireStorage(store, { ownerId, kind: 'sessions' }, quotas);
    await countStorage(store, amount(99));
    expect(await isRefused(check())).toBe(false);
    await countStorage(store, amount(1));
    expect(await isRefused(check())).toBe(true);
    await countStorage(store, amount(50));
    expect(await isRefused(check())).toBe(true);
    await giveStorageBack(store, amount(51));
    expect([await isRefused(check()), await read()]).toEqual([false, 99]);
    expect([await isRefused(takeStorage(store, amount(2), quotas)), await read()]).toEqual([true, 99]);
    expect([await isRefused(takeStorage(store, amount(1), quotas)), await read()]).toEqual([false, 100]);
  });

  it.each([null, 0])('is not limited by a quota of %j', async (sessions) => {
    const { store, read } = setUp();
    const quotas = { ...DEFAULT_STORAGE_QUOTAS, sessions };
    await takeStorage(store, amount(2 ** 40), quotas);
    await takeStorage(store, amount(1), quotas);
    expect(requireStorage(store, { ownerId, kind: 'sessions' }, quotas)).toBeUndefined();
    expect(await read()).toBe(2 ** 40 + 1);
  });

  it('is erased with its user, of every kind, and not that of another user', async () => {
    const { store, read } = setUp();
    const kinds = Object.keys(DEFAULT_STORAGE_QUOTAS) as StorageKind[];
    const other = 'v'.repeat(24);
    for (const kind of kinds) {
      await countStorage(store, amount(5, kind));
      await countStorage(store, { ...amount(7, kind), ownerId: other });
    }
    await eraseUsage(store, ownerId);
    for (const kind of kinds) expect([await read(kind), await read(kind, other)]).toEqual([undefined, 7]);
  });

  it('is given back to the byte', async () => {
    const { store, read } = setUp();
    await countStorage(store, amount(5));
    for (const [bytes, left] of [
      [0, 5],
      [1, 4],
      [4, 0],
    ] as const) {
      await giveStorageBack(store, amount(bytes));
      expect(await read()).toBe(left);
    }
  });

  it('is named in what is refused: the kind, the quota, the use and the need', async () => {
    const { store } = setUp();
    await countStorage(store, amount(7));
    const quotas = { ...DEFAULT_STORAGE_QUOTAS, sessions: 7, lakes: 3 };
    const check = async () => requireStorage(store, { ownerId, kind: 'sessions' }, quotas);
    await expect(check()).rejects.toThrow(
      /sessions and messages .* 7 bytes, 7 are used and 1 more are needed/,
    );
    await expect(takeStorage(store, amount(4, 'lakes'), quotas)).rejects.toThrow(
      /files in data lakes .* 3 bytes, 0 are used and 4 more are needed/,
    );
  });

  it('is refused with 422', async () => {
    const quotas = { ...DEFAULT_STORAGE_QUOTAS, sessions: 1 };
    const refused = takeStorage(setUp().store, amount(2), quotas);
    await expect(refused).rejects.toMatchObject({ status: 422, code: 'limit_exceeded' });
  });
});

describe('use of storage among writes', () => {
  it('is counted and given back to the byte', async () => {
    const { store, read } = setUp();
    expect(storageReturn(amount(0))).toEqual([]);
    // Without a counter, nothing can be given back.
    expect(await writeAll(store, storageReturn(amount(1)))).toBe(false);
    for (const [write, left] of [
      [storageWrite(amount(5)), 5],
      [storageWrite(amount(2)), 7],
      ...storageReturn(amount(1)).map((one) => [one, 6] as const),
    ] as const) {
      expect(await writeAll(store, [write])).toBe(true);
      expect(await read()).toBe(left);
    }
  });

  it('has to be below the quota', async () => {
    const { store } = setUp();
    const quotas = { ...DEFAULT_STORAGE_QUOTAS, sessions: 10, lakes: null };
    const isBelow = (kind: StorageKind = 'sessions') =>
      writeAll(store, expectStorage({ ownerId, kind }, quotas));
    expect(await isBelow()).toBe(true);
    await countStorage(store, amount(9));
    expect(await isBelow()).toBe(true);
    await countStorage(store, amount(1));
    expect(await isBelow()).toBe(false);
    expect(expectStorage({ ownerId, kind: 'lakes' }, quotas)).toEqual([]);
  });
});
