import { MCP_TASKS } from '@questline/core/internal';
import { createMemoryStore } from '@questline/core/memory';
import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createTaskRecords, readTtl } from '../src/task-records.ts';

const WEEK = 7 * 24 * 3_600_000;

function create() {
  const store = createMemoryStore();
  const clock = createFakeClock();
  const of = (userId: string) => {
    const own = { services: { store, clock }, call: { caller: { userId } } };
    return createTaskRecords(own as unknown as Parameters<typeof createTaskRecords>[0]);
  };
  return { clock, of, collection: store.collection(MCP_TASKS), ada: of('ada') };
}

describe('the life of a task', () => {
  it('is what the client asks for, at most seven days', () => {
    for (const ttl of [undefined, null, WEEK, WEEK + 1]) expect(readTtl({ ttl })).toBe(WEEK);
    for (const ttl of [0, 1, WEEK - 1]) expect(readTtl({ ttl })).toBe(ttl);
    for (const ttl of [-1, 1.5, '1', {}, Number.NaN, 2 ** 53])
      expect(() => readTtl({ ttl })).toThrow(
        expect.objectContaining({ code: -32602, message: 'task.ttl: expected milliseconds' }),
      );
  });

  it('ends at its time', async () => {
    const { ada, clock } = create();
    const now = clock.now();
    const record = { id: 'a', ownerId: 'ada', createdAt: now, expiresAt: now + 1000 };
    expect(await ada.add('a', 1000)).toEqual(record);
    await clock.advance(999);
    expect(await ada.get('a')).toEqual(record);
    expect((await ada.list(undefined)).records).toEqual([record]);
    await clock.advance(1);
    expect(await ada.get('a')).toBeUndefined();
    expect((await ada.list(undefined)).records).toEqual([]);
  });
});

describe('a task', () => {
  it('is of its owner', async () => {
    const { ada, of } = create();
    await ada.add('a', 1000);
    expect(await of('eve').get('a')).toBeUndefined();
    expect(await of('eve').list(undefined)).toEqual({ records: [] });
  });

  it('is kept once for a repeated call', async () => {
    const { ada, clock, collection } = create();
    const first = await ada.add('a', 1000);
    await clock.advance(10);
    expect(await ada.add('a', 5000)).toEqual(first);
    expect(await collection.find({})).toEqual([first]);
  });

  it('is deleted after its end by the next one of any user, in batches of 100', async () => {
    const { ada, of, clock, collection } = create();
    for (let index = 0; index < 103; index += 1) await ada.add(`task-${index}`, 1000);
    await clock.advance(999);
    await of('eve').add('late', 1000);
    expect(await collection.find({})).toHaveLength(104);
    await clock.advance(1);
    await of('eve').add('later', 1000);
    const left = await collection.find({});
    expect(left).toHaveLength(5);
    expect(left.filter(({ ownerId }) => ownerId === 'eve')).toHaveLength(2);
  });

  it('is not kept if an earlier one cannot be deleted', async () => {
    const { ada, clock, collection } = create();
    await ada.add('a', 1000);
    await clock.advance(1000);
    const failure = new Error('the store is away');
    const store = { collection: () => ({ ...collection, take: () => Promise.reject(failure) }) };
    const own = { services: { store, clock }, call: { caller: { userId: 'ada' } } };
    const failing = createTaskRecords(own as unknown as Parameters<typeof createTaskRecords>[0]);
    await expect(failing.add('b', 1000)).rejects.toBe(failure);
  });
});

describe('the list of tasks', () => {
  it('has pages of ten, newest first', async () => {
    const { ada, of, clock } = create();
    for (let index = 0; index < 21; index += 1) {
      await clock.advance(1);
      await ada.add(`task-${index}`, WEEK);
    }
    const sizes: number[] = [];
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await ada.list(cursor);
      sizes.push(page.records.length);
      ids.push(...page.records.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor !== undefined && sizes.length < 5);
    expect(sizes).toEqual([10, 10, 1]);
    expect(ids).toEqual(Array.from({ length: 21 }, (_, index) => `task-${20 - index}`));
    const { nextCursor } = await ada.list(undefined);
    const refusal = { code: -32602, message: 'cursor: expected a cursor of this list' };
    await expect(of('eve').list(nextCursor)).rejects.toMatchObject(refusal);
    for (const wrong of ['', 'x', 7, null]) await expect(ada.list(wrong)).rejects.toMatchObject(refusal);
  });

  it('has one page for ten tasks', async () => {
    const { ada } = create();
    for (let index = 0; index < 10; index += 1) await ada.add(`task-${index}`, WEEK);
    const { records, nextCursor } = await ada.list(undefined);
    expect([records.length, nextCursor]).toEqual([10, undefined]);
  });
});
