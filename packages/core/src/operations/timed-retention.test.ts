import { expect, it } from 'vitest';
import { createMemoryStore } from '../memory/store.ts';
import { defineCollection, type StoredRecord } from '../ports/store.ts';
import type { Remover } from './retention.ts';
import { createTimedRetention } from './timed-retention.ts';

interface Thing extends StoredRecord {
  readonly ownerId: string;
  readonly createdAt: number;
  readonly status: string;
}

const THINGS = defineCollection<Thing>({
  name: 'things',
  columns: { ownerId: 'text', createdAt: 'integer', status: 'text' },
  unique: [],
  indexes: [['createdAt'], ['ownerId', 'createdAt']],
});

/** Records of ada and bob in turn, whose times are 0 to 9; those of 4 and 5 have not ended. */
async function setUp() {
  const store = createMemoryStore();
  const collection = store.collection(THINGS);
  for (let createdAt = 0; createdAt < 10; createdAt += 1) {
    const status = createdAt === 4 || createdAt === 5 ? 'running' : 'ended';
    // The ids are in no order of the times.
    const id = `${(createdAt * 7) % 10}`;
    await collection.insert({ id, ownerId: createdAt % 2 === 0 ? 'ada' : 'bob', createdAt, status });
  }
  const remove = async (id: string) => (await collection.take(id)) !== undefined;
  const open = (where?: { status: string }) =>
    createTimedRetention<Thing, 'createdAt'>(store, {
      ...{ collection, time: 'createdAt', remove },
      ...(where && { where }),
    });
  return { collection, remove, open };
}

const remover: Remover = {
  count: async (ids) => ids.length,
  async removeEach(ids, before, remove) {
    for (const id of ids) await remove(id, { before, isInUse: async () => false });
    return ids.length;
  },
};

it('lists the records of all owners from before a time, oldest first', async () => {
  const { open, remove } = await setUp();
  const { byAge } = open();
  if (byAge === undefined || !('find' in byAge)) throw new Error('no list');
  const first = await byAge.find(3, 2, undefined);
  expect(first).toEqual([
    { id: '0', time: 0 },
    { id: '7', time: 1 },
  ]);
  expect(await byAge.find(3, 2, first[1])).toEqual([{ id: '4', time: 2 }]);
  expect(byAge.remove).toBe(remove);
});

it('leaves out records that do not match', async () => {
  const { open } = await setUp();
  const { byAge, byGroup } = open({ status: 'ended' });
  if (byAge === undefined || !('find' in byAge)) throw new Error('no list');
  expect((await byAge.find(7, 10, undefined)).map(({ time }) => time)).toEqual([0, 1, 2, 3, 6]);
  expect(await byGroup.count('ada', { before: 7 }, remover)).toBe(3);
  expect(await byGroup.count('ada', { before: 8, surplus: { newest: 2, before: 9 } }, remover)).toBe(3);
});

it('keeps the newest records of an owner', async () => {
  const { open, collection } = await setUp();
  const { byGroup } = open();
  expect(await byGroup.trim('ada', { surplus: { newest: 2, before: 10 } }, 2, remover)).toBe(2);
  const left = await collection.find({ ownerId: 'ada' });
  expect(left.map(({ createdAt }) => createdAt).sort()).toEqual([0, 6, 8]);
  expect(await byGroup.trim('ada', { surplus: { newest: 2, before: 10 } }, 2, remover)).toBe(1);
  expect(await collection.count({ ownerId: 'ada' })).toBe(2);
  expect(await collection.count({ ownerId: 'bob' })).toBe(5);
});

it('counts the newest records of the owner only', async () => {
  const { open, collection } = await setUp();
  expect(await open().byGroup.trim('ada', { surplus: { newest: 3, before: 6 } }, 10, remover)).toBe(2);
  const left = await collection.find({ ownerId: 'ada' });
  expect(left.map(({ createdAt }) => createdAt).sort()).toEqual([4, 6, 8]);
});
