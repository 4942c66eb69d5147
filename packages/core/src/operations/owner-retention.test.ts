import { describe, expect, it } from 'vitest';
import { USERS } from '../identity/records.ts';
import { createMemoryStore } from '../memory/store.ts';
import {
  createOwnerRetention,
  listRecords,
  type OwnedRecords,
  type TimeCondition,
} from './owner-retention.ts';
import type { Remover } from './retention.ts';

/**
 * Records of ada, newest first; the id of a record is its time. @param times of the records.
 * @param used ids of records that are in use.
 */
function setUp(times: readonly number[], used: readonly number[] = []) {
  let ids = times.toSorted((a, b) => b - a).map(String);
  const pages: { offset: number; limit: number }[] = [];
  const matching = (owner: string, time: TimeCondition): readonly string[] =>
    ids.filter((id) => owner === 'ada' && ('lt' in time ? Number(id) < time.lt : Number(id) >= time.gte));
  const drop = (id: string): void => {
    ids = ids.filter((one) => one !== id);
  };
  const isUsed = (id: string): boolean => used.includes(Number(id));
  const owned = {
    count: async (owner: string, time: TimeCondition) => matching(owner, time).length,
    async find(owner: string, time: TimeCondition, page: { offset: number; limit: number }) {
      pages.push(page);
      const found = matching(owner, time).slice(page.offset, page.offset + page.limit);
      return found.map((id) => ({ id, time: Number(id) }));
    },
  };
  const removed: string[] = [];
  const bounds: number[] = [];
  const remover: Remover = {
    count: async (given) => given.filter((id) => !isUsed(id)).length,
    async removeEach(given, before, remove) {
      bounds.push(before);
      let gone = 0;
      for (const id of given) if (await remove(id, { before, isInUse: async () => isUsed(id) })) gone += 1;
      return gone;
    },
  };
  const checked: OwnedRecords = {
    ...owned,
    async remove(id, { isInUse }) {
      if (await isInUse(createMemoryStore())) return false;
      drop(id);
      removed.push(id);
      return true;
    },
  };
  const unchecked: OwnedRecords = {
    ...owned,
    async removeAll(given) {
      for (const id of given) drop(id);
      removed.push(...given);
      return given.length;
    },
  };
  const open = (records: OwnedRecords = checked) => createOwnerRetention(createMemoryStore(), records);
  return { open, checked, unchecked, remover, pages, removed, bounds, listIds: () => ids };
}

/** 1 to 10. */
const TEN = Array.from({ length: 10 }, (_, at) => at + 1);

describe('the number of records to delete', () => {
  it.each([
    ['nothing without a rule', {}, 0],
    ['those from before a time', { before: 4 }, 3],
    ['those beyond the newest ones', { surplus: { newest: 4, before: 11 } }, 6],
    ['those beyond the newest ones from before a time', { surplus: { newest: 4, before: 4 } }, 3],
    ['the newest ones count records after the time', { surplus: { newest: 4, before: 9 } }, 6],
    ['none while there are fewer', { surplus: { newest: 10, before: 11 } }, 0],
    ['none if all of them are too young', { surplus: { newest: 4, before: 1 } }, 0],
    ['the larger one of both: by age', { before: 8, surplus: { newest: 4, before: 6 } }, 7],
    ['the larger one of both: by number', { before: 3, surplus: { newest: 4, before: 11 } }, 6],
  ])('is %s', async (_name, bounds, expected) => {
    const { open, unchecked, remover } = setUp(TEN);
    expect(await open(unchecked).count('ada', bounds, remover)).toBe(expected);
    expect(await open().count('ada', bounds, remover)).toBe(expected);
    expect(await open().count('bob', bounds, remover)).toBe(0);
  });

  it('has no bound of its own', async () => {
    const { open, remover } = setUp([0, 1]);
    expect(await open().count('ada', {}, remover)).toBe(0);
    expect(await open().count('ada', { before: 1 }, remover)).toBe(1);
  });

  it('leaves out those in use, among the oldest ones only', async () => {
    const { open, unchecked, remover } = setUp(TEN, [2, 4, 9]);
    const bounds = { surplus: { newest: 4, before: 11 } };
    expect(await open().count('ada', bounds, remover)).toBe(4);
    expect(await open().count('ada', { before: 4 }, remover)).toBe(2);
    expect(await open(unchecked).count('ada', bounds, remover)).toBe(6);
    // The sixth of the oldest ones is not from before 6, and counts as one by age.
    expect(await open().count('ada', { before: 7, surplus: { newest: 9, before: 3 } }, remover)).toBe(4);
  });

  it('reads pages of 500', async () => {
    const times = Array.from({ length: 1100 }, (_, at) => at + 1);
    const { open, remover, pages } = setUp(times, [1, 500, 1000]);
    expect(await open().count('ada', { before: 1001 }, remover)).toBe(997);
    expect(pages).toEqual([0, 500, 1000].map((offset) => ({ offset, limit: 500 })));
    pages.length = 0;
    expect(await open().count('ada', { surplus: { newest: 600, before: 1101 } }, remover)).toBe(498);
    expect(pages).toEqual([600, 1100].map((offset) => ({ offset, limit: 500 })));
  });

  it('reads no records where there are none to delete', async () => {
    const { open, remover, pages } = setUp(TEN);
    await open().count('ada', {}, remover);
    expect(pages).toEqual([]);
  });
});

describe('the deletion of an owner', () => {
  it('deletes nothing without a number of newest records', async () => {
    const { open, remover, listIds } = setUp(TEN);
    expect(await open().trim('ada', { before: 11 }, 100, remover)).toBe(0);
    expect(listIds()).toHaveLength(10);
  });

  it.each(['checked', 'unchecked'] as const)('keeps the newest records (%s)', async (kind) => {
    const owned = setUp(TEN);
    const retention = owned.open(owned[kind]);
    expect(await retention.trim('bob', { surplus: { newest: 4, before: 11 } }, 100, owned.remover)).toBe(0);
    expect(await retention.trim('ada', { surplus: { newest: 4, before: 11 } }, 100, owned.remover)).toBe(6);
    expect(owned.listIds()).toEqual(['10', '9', '8', '7']);
    expect(await retention.trim('ada', { surplus: { newest: 4, before: 11 } }, 100, owned.remover)).toBe(0);
  });

  it.each([
    [3, ['10', '9', '8', '7', '6', '5', '4', '3']],
    [9, ['10', '9', '8', '7']],
    [11, ['10', '9', '8', '7']],
  ])('keeps records from %i on', async (before, kept) => {
    const { open, remover, listIds, bounds } = setUp(TEN);
    expect(await open().trim('ada', { surplus: { newest: 4, before } }, 100, remover)).toBe(10 - kept.length);
    expect(listIds()).toEqual(kept);
    expect(new Set(bounds)).toEqual(new Set([before]));
  });

  it.each(['checked', 'unchecked'] as const)('deletes up to a limit (%s)', async (kind) => {
    const owned = setUp(TEN);
    const trim = (limit: number) =>
      owned.open(owned[kind]).trim('ada', { surplus: { newest: 2, before: 11 } }, limit, owned.remover);
    expect(await trim(3)).toBe(3);
    expect(owned.listIds()).toHaveLength(7);
    expect(owned.pages).toEqual([{ offset: 2, limit: 3 }]);
    expect(await trim(5)).toBe(5);
    expect(owned.listIds()).toEqual(['10', '9']);
    expect(await trim(1)).toBe(0);
  });

  it('goes on behind records in use until the limit', async () => {
    const { open, remover, removed, pages, listIds } = setUp(TEN, [8, 6, 5]);
    expect(await open().trim('ada', { surplus: { newest: 2, before: 11 } }, 4, remover)).toBe(4);
    expect(removed).toEqual(['7', '4', '3', '2']);
    expect(listIds()).toEqual(['10', '9', '8', '6', '5', '1']);
    expect(pages).toEqual([
      { offset: 2, limit: 4 },
      { offset: 5, limit: 3 },
    ]);
  });

  it('ends behind records in use, having read a page that is not full', async () => {
    const { open, remover, removed, pages } = setUp(TEN, [3, 2, 1]);
    expect(await open().trim('ada', { surplus: { newest: 6, before: 11 } }, 2, remover)).toBe(1);
    expect(removed).toEqual(['4']);
    const offsets = pages.map(({ offset, limit }) => [offset, limit]);
    expect(offsets).toEqual([
      [6, 2],
      [7, 1],
      [8, 1],
      [9, 1],
    ]);
  });
});

describe('the owners', () => {
  it('are the users, in the order of their ids', async () => {
    const store = createMemoryStore();
    for (const id of ['c', 'a', 'b']) await store.collection(USERS).insert({ id } as never);
    const { list } = createOwnerRetention(store, setUp([]).checked);
    expect(await list(undefined, 2)).toEqual({ groups: ['a', 'b'], next: 'b' });
    expect(await list(undefined, 3)).toEqual({ groups: ['a', 'b', 'c'], next: 'c' });
    expect(await list(undefined, 4)).toEqual({ groups: ['a', 'b', 'c'] });
    expect(await list('b', 2)).toEqual({ groups: ['c'] });
    expect(await list('a', 2)).toEqual({ groups: ['b', 'c'], next: 'c' });
    expect(await list('c', 2)).toEqual({ groups: [] });
  });

  it('are read from the position of the last page', async () => {
    const given: unknown[] = [];
    const find = async (_filter: unknown, options: unknown) => {
      given.push(options);
      return [];
    };
    const list = listRecords({ find } as never);
    await list(undefined, 2);
    await list('a', 3);
    expect(given).toEqual([{ limit: 2 }, { limit: 3, after: { value: 'a', id: 'a' } }]);
  });

  it('are those that the records name', async () => {
    const listOwners = async () => ({ groups: ['webhook'] });
    const { list } = createOwnerRetention(createMemoryStore(), { ...setUp([]).checked, listOwners });
    expect(await list(undefined, 2)).toEqual({ groups: ['webhook'] });
  });
});
