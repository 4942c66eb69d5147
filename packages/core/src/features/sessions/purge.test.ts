import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { withLateWrites } from '../../../test/late-store.ts';
import { withEngineJobs, withWriteAll } from '../../../test/whole-writes.ts';
import { createStoreQueue } from '../../jobs/store-queue.ts';
import { createMemoryStore } from '../../memory/store.ts';
import type { LeasedJob } from '../../ports/queue.ts';
import { QUESTS } from '../../runs/records.ts';
import { STORAGE_USAGE } from '../storage/usage.ts';
import { createPurgeHandler, deleteMessages, isPurging, purgeCopyJob, purgeJob } from './purge.ts';
import { MESSAGES, SESSIONS, type SessionRecord } from './records.ts';

const SESSION: SessionRecord = { id: 's', ownerId: 'ada', name: 'n', firstCreated: 0, lastUpdated: 0 };

/** @param counts of the messages of each owner. */
async function setUp(counts: Readonly<Record<string, number>>, isWhole = true) {
  const clock = createFakeClock();
  const memory = createMemoryStore();
  const messages = memory.collection(MESSAGES);
  for (const [ownerId, count] of Object.entries(counts)) {
    for (let at = 0; at < count; at += 1) {
      const id = `${ownerId} ${String(at).padStart(4, '0')}`;
      const message = { id, sessionId: 's', ownerId, role: 'user', content: '', createdAt: at } as const;
      await messages.insert({ ...message, ...(at > 0 && { bytes: 10 }) });
    }
    await memory.collection(STORAGE_USAGE).insert({ id: `${ownerId}:sessions`, bytes: 100_000 });
  }
  const other = {
    id: 'other',
    sessionId: 't',
    ownerId: 'ada',
    role: 'user',
    content: '',
    createdAt: 0,
  } as const;
  await messages.insert(other);
  for (const [id, sessionId] of [
    ['q', 's'],
    ['r', 't'],
  ] as const)
    await memory.collection(QUESTS).insert({ id, sessionId, ownerId: 'ada' } as never);
  const plain = createStoreQueue({ store: memory, clock, ids: createFakeIds() });
  const queue = isWhole ? withEngineJobs(plain) : plain;
  const cleaned: string[] = [];
  const deletion = {
    async session(id: string) {
      await new Promise(setImmediate);
      cleaned.push(`session ${id}`);
    },
    async conversation(id: string) {
      await new Promise(setImmediate);
      cleaned.push(`conversation ${id}`);
    },
    toSessionWrites: () => [],
  };
  const handler = createPurgeHandler({
    store: isWhole ? withWriteAll(memory) : withLateWrites(memory),
    queue,
    deletion: deletion as never,
  });
  const lease = async (session: SessionRecord = SESSION, isDeleted?: boolean) => {
    await queue.enqueue(purgeJob(session, clock.now(), isDeleted));
    await clock.advance(1000);
    const [job] = await queue.lease({ kinds: ['sessions.purge'], limit: 1, leaseMs: 1000 });
    if (job === undefined) throw new Error('no job');
    return job;
  };
  const run = (job: LeasedJob) =>
    handler.run(job, new AbortController().signal, async () => undefined as never);
  const read = async () => {
    const usage = await memory.collection(STORAGE_USAGE).find({});
    return {
      messages: await messages.count({ sessionId: 's' }),
      others: await messages.count({ sessionId: 't' }),
      quests: (await memory.collection(QUESTS).find({})).map(({ id }) => id),
      freed: Object.fromEntries(usage.map(({ id, bytes }) => [id.split(':')[0], 100_000 - bytes])),
    };
  };
  return { memory, queue, clock, cleaned, lease, run, read };
}

const PURGED = { messages: 0, others: 1, quests: ['r'] };

describe('the purge of a deleted session', () => {
  it('deletes its messages and turns in one step, and frees the storage of each owner', async () => {
    const { queue, cleaned, lease, run, read } = await setUp({ ada: 499 - 3, grace: 3 });
    expect(await run(await lease())).toBe('finished');
    expect(await read()).toEqual({ ...PURGED, freed: { ada: 4950, grace: 20 } });
    expect([cleaned, await queue.counts()]).toEqual([[], { ready: 0, delayed: 0, leased: 0 }]);
  });

  it.each([
    [500, true],
    [501, true],
    [3, false],
    [0, false],
  ])('deletes %i messages in batches, in one step if possible: %s', async (count, isWhole) => {
    const { cleaned, lease, run, read } = await setUp({ ada: count }, isWhole);
    expect(await run(await lease())).toBeUndefined();
    expect(await read()).toEqual({ ...PURGED, freed: { ada: Math.max(0, count - 1) * 10 } });
    expect(cleaned).toEqual(['session s']);
  });

  it('also deletes the items of a conversation', async () => {
    const { cleaned, lease, run, read } = await setUp({ ada: 3 });
    expect(await run(await lease({ ...SESSION, isConversation: true }))).toBeUndefined();
    expect(cleaned).toEqual(['session s', 'conversation s']);
    expect(await read()).toMatchObject(PURGED);
  });

  it('waits while the session exists, unless it was deleted in the same step', async () => {
    const { memory, lease, run, read } = await setUp({ ada: 3 });
    await memory.collection(SESSIONS).insert(SESSION);
    expect(await run(await lease())).toEqual({ afterMs: 1000, countAttempt: true });
    expect((await read()).messages).toBe(3);
    const again = await setUp({ ada: 3 });
    await again.memory.collection(SESSIONS).insert(SESSION);
    expect(await again.run(await again.lease(SESSION, true))).toBe('finished');
  });

  it('is known by the id of the session until it has ended', async () => {
    const { queue, lease, run } = await setUp({ ada: 1 });
    expect(await isPurging(queue, 's')).toBe(false);
    const job = await lease();
    expect([await isPurging(queue, 's'), await isPurging(queue, 't')]).toEqual([true, false]);
    await run(job);
    expect(await isPurging(queue, 's')).toBe(false);
    expect(await isPurging({}, 's')).toBe(false);
  });
});

it('purges an interrupted copy after 15 minutes, beside the purge of its session', () => {
  const { key, ...job } = purgeCopyJob(SESSION, 5);
  expect(job).toEqual({ kind: 'sessions.purge', owner: 'ada', payload: { sessionId: 's' }, runAt: 900_005 });
  expect(key).not.toBe(purgeJob(SESSION, 5).key);
  expect(purgeJob(SESSION, 5).runAt).toBe(1005);
});

it('deletes messages in batches of 500', async () => {
  const { memory, read } = await setUp({ ada: 999 });
  const batches: number[] = [];
  const counting: typeof memory = {
    ...memory,
    async transaction(work, options) {
      const before = await memory.collection(MESSAGES).count({ sessionId: 's' });
      const result = await memory.transaction(work, options);
      batches.push(before - (await memory.collection(MESSAGES).count({ sessionId: 's' })));
      return result;
    },
  };
  await deleteMessages(counting, 's');
  expect(batches).toEqual([500, 499]);
  expect((await read()).freed).toEqual({ ada: 9980 });
});
