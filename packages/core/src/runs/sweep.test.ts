import { createMemoryQueue, createMemoryStore } from '@questline/core/memory';
import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import type { JobQueue } from '../ports/queue.ts';
import { questJob } from './quest-job.ts';
import { newQuest, QUESTS } from './records.ts';
import { createQuestSweep } from './sweep.ts';

const LEASE_MS = 60_000;
const BACKLOG = 1200;

/** Old quests with jobs, and one without a job behind them. */
async function setUp(change: (queue: JobQueue) => JobQueue = (queue) => queue) {
  const clock = createFakeClock();
  const ids = createFakeIds();
  const store = createMemoryStore();
  const memory = createMemoryQueue({ clock, ids });
  const enqueued: string[] = [];
  const add = async (hasJob: boolean) => {
    const request = { payer: { account: 'user:a' }, requestId: 'r' } as never;
    const quest = newQuest(
      { id: ids.next(), kind: 'chat', sessionId: 's', ownerId: 'a', request },
      clock.now(),
    );
    await store.collection(QUESTS).insert(quest);
    if (hasJob) await memory.enqueue(questJob(quest));
    return quest.id;
  };
  for (let at = 0; at < BACKLOG; at += 1) await add(true);
  await clock.advance(1);
  const lost = await add(false);
  await clock.advance(LEASE_MS);
  const queue = change({
    ...memory,
    enqueue(job) {
      enqueued.push(job.key);
      return memory.enqueue(job);
    },
  });
  const sweep = createQuestSweep({ store, queue, clock, worker: { leaseMs: LEASE_MS } });
  return { sweep, lost, enqueued };
}

describe('the sweep of quests', () => {
  it('enqueues a quest without a job behind a long line of quests with jobs, and no other', async () => {
    const { sweep, lost, enqueued } = await setUp();
    await sweep.run();
    expect(enqueued).toEqual([lost]);
  });

  it('gets to it in some runs with a queue that cannot find keys', async () => {
    const { sweep, lost, enqueued } = await setUp(({ findKeys: _, ...queue }) => queue);
    for (let run = 0; run < 3; run += 1) await sweep.run();
    expect(enqueued).toContain(lost);
    expect(enqueued).toHaveLength(BACKLOG + 1);
  });

  it('enqueues at most 500 quests a run with such a queue', async () => {
    const { sweep, enqueued } = await setUp(({ findKeys: _, ...queue }) => queue);
    await sweep.run();
    expect(enqueued).toHaveLength(500);
  });

  it('runs twice per lease', async () => {
    const { sweep } = await setUp();
    expect([sweep.name, sweep.everyMs]).toEqual(['sweep-quests', LEASE_MS / 2]);
  });
});

describe('a quest that waits for its job', () => {
  const open = async (enqueue: JobQueue['enqueue']) => {
    const clock = createFakeClock();
    const store = createMemoryStore();
    const asked: number[] = [];
    const queue = createMemoryQueue({ clock, ids: createFakeIds() });
    const add = async (id: string, liveSince: number) => {
      const quest = { id, kind: 'chat', sessionId: 's', ownerId: 'a', request: {} as never };
      await store.collection(QUESTS).insert(newQuest(quest, liveSince));
    };
    const findKeys = async (keys: readonly string[]) => {
      asked.push(keys.length);
      return [];
    };
    const sweep = createQuestSweep({
      ...{ store, clock, queue: { ...queue, enqueue, findKeys } },
      worker: { leaseMs: LEASE_MS },
    });
    return { clock, add, sweep, asked };
  };

  it('is enqueued after one lease, the oldest first', async () => {
    const keys: string[] = [];
    const { clock, add, sweep, asked } = await open(async ({ key }) => {
      keys.push(key);
      return { id: key, added: true };
    });
    await sweep.run();
    expect(asked).toEqual([]);
    await add('b', clock.now());
    await clock.advance(1);
    await add('a', clock.now());
    await clock.advance(1);
    await add('c', clock.now());
    await clock.advance(LEASE_MS - 1);
    await sweep.run();
    expect(keys).toEqual(['b', 'a']);
  });

  it('is enqueued by the next run when the queue is away', async () => {
    const error = new Error('away');
    const { clock, add, sweep } = await open(() => Promise.reject(error));
    await add('a', clock.now());
    await clock.advance(LEASE_MS);
    await expect(sweep.run()).rejects.toBe(error);
  });
});
