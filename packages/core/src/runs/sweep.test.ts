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
});
