import { createMemoryStore } from '@questline/core/memory';
import { describe, expect, it } from 'vitest';
import type { Store } from '../../ports/store.ts';
import { writeAll } from '../../ports/write-all.ts';
import { QUESTS, type QuestRecord } from '../../runs/records.ts';
import { EXECUTION_SLOTS } from './records.ts';
import { acquireSlot, findSlot, reserveSlot } from './slots.ts';

const USER = 'u'.repeat(24);
/** A clock may begin at 0. */
const NOW = 0;

function quest(id: string, status: QuestRecord['status']): QuestRecord {
  const request = { payer: { account: `user:${USER}`, userId: USER }, requestId: 'r' };
  const common = { kind: 'agent-execution', sessionId: 's', ownerId: USER, type: 'message' } as const;
  return { ...common, id, status, request, createdAt: 0, updatedAt: 0 };
}

/** Runs fifty parallel attempts without transactions: only the guards of single steps separate them. */
async function race(store: Store, prefix: string): Promise<string[]> {
  const ids = Array.from({ length: 50 }, (_, index) => `${prefix}${index}`);
  for (const id of ids) await store.collection(QUESTS).insert(quest(id, 'pending'));
  const outcomes = await Promise.all(
    ids.map((id) =>
      acquireSlot(store, { userId: USER, executionId: id, most: 3, now: NOW }).then(
        () => id,
        (error: { status?: number }) => error.status,
      ),
    ),
  );
  expect(outcomes.filter((outcome) => outcome === 409)).toHaveLength(47);
  return outcomes.filter((outcome) => typeof outcome === 'string');
}

describe('run slots', () => {
  it('are never acquired beyond their number, neither free nor expired ones', async () => {
    const store = createMemoryStore();
    const first = await race(store, 'a');
    expect(first).toHaveLength(3);
    for (const id of first) await store.collection(QUESTS).update(id, { status: 'done' });
    expect(await race(store, 'b')).toHaveLength(3);
  });

  it('are free again when their runs are deleted', async () => {
    const store = createMemoryStore();
    for (const id of await race(store, 'a')) await store.collection(QUESTS).take(id);
    expect(await race(store, 'b')).toHaveLength(3);
  });

  it('are kept for a minute for a run that another step stores', async () => {
    const store = createMemoryStore();
    const take = (id: string, now: number) =>
      acquireSlot(store, { userId: USER, executionId: id, most: 1, now }).then(
        () => 200,
        (error: { status?: number }) => error.status,
      );
    await reserveSlot(store, { userId: USER, executionId: 'first', most: 1, now: NOW });
    expect(await take('second', NOW + 59_999)).toBe(409);
    const wanted = { userId: USER, executionId: 'second', most: 1, now: NOW + 59_999 };
    expect(await findSlot(store, wanted)).toBeUndefined();
    await store.collection(QUESTS).insert(quest('first', 'running'));
    expect(await take('second', NOW + 60_000)).toBe(409);
    await store.collection(QUESTS).take('first');
    expect(await take('second', NOW + 60_000)).toBe(200);
    // The reservation of the first run does not count for the second.
    expect(await take('third', NOW + 60_000)).toBe(200);
  });

  it('are kept for a minute also where a run that has ended had them', async () => {
    const store = createMemoryStore();
    const wanted = { userId: USER, most: 1, now: NOW };
    await store.collection(QUESTS).insert(quest('first', 'done'));
    await acquireSlot(store, { ...wanted, executionId: 'first' });
    await reserveSlot(store, { ...wanted, executionId: 'second' });
    await expect(acquireSlot(store, { ...wanted, executionId: 'third' })).rejects.toMatchObject({
      status: 409,
    });
  });
});

describe('a free slot that was found', () => {
  const wanted = { userId: USER, most: 1, now: NOW };

  it('is one of the user, whatever slots others have', async () => {
    const store = createMemoryStore();
    for (const userId of ['a'.repeat(24), USER]) {
      const executionId = `${userId}-run`;
      await store.collection(QUESTS).insert(quest(executionId, userId === USER ? 'done' : 'running'));
      await acquireSlot(store, { ...wanted, userId, executionId });
    }
    const writes = await findSlot(store, { ...wanted, executionId: 'next' });
    expect(await writeAll(store, writes ?? [])).toBe(true);
    const slots = await store.collection(EXECUTION_SLOTS).find({ executionId: 'next' });
    expect(slots).toMatchObject([{ id: `${USER}:0` }]);
  });

  it('is acquired by one of two runs that found it, and does not stay reserved for the run before', async () => {
    const store = createMemoryStore();
    await reserveSlot(store, { ...wanted, executionId: 'first' });
    await store.collection(QUESTS).insert(quest('first', 'done'));
    const second = await findSlot(store, { ...wanted, executionId: 'second' });
    const third = await findSlot(store, { ...wanted, executionId: 'third' });
    expect(await writeAll(store, second ?? [])).toBe(true);
    expect(await writeAll(store, third ?? [])).toBe(false);
    // The second run was not stored, and had no reservation.
    expect(await findSlot(store, { ...wanted, executionId: 'fourth' })).toBeDefined();
  });
});
