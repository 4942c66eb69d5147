import { createMemoryQueue, createMemoryStore } from '@questline/core/memory';
import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { delayed } from '../../test/delayed.ts';
import type { JobQueue } from '../ports/queue.ts';
import { newQuest, QUESTS, type QuestRecord } from './records.ts';
import { createStopQuest } from './stop.ts';

const ID = 'q1';

async function setUp(more: Partial<QuestRecord>, change: (queue: JobQueue) => JobQueue = (queue) => queue) {
  const clock = createFakeClock();
  const store = createMemoryStore();
  const quests = store.collection(QUESTS);
  const request = { payer: { account: 'user:a' }, requestId: 'r' } as never;
  const quest = newQuest({ id: ID, kind: 'chat', sessionId: 's', ownerId: 'a', request }, 0);
  await quests.insert({ ...quest, ...more });
  const queue = createMemoryQueue({ clock, ids: createFakeIds() });
  const announced: string[] = [];
  const incidents: unknown[] = [];
  const stop = createStopQuest({
    ...{ store, queue: change({ ...queue, enqueue: delayed(queue).enqueue }), clock },
    questEvents: { stopped: (id: string) => void announced.push(id) } as never,
    onError: (incident) => void incidents.push(incident),
  });
  const lease = () => queue.lease({ kinds: ['chat'], limit: 9, leaseMs: 1000 });
  return { stop, lease, announced, incidents, clock, read: () => quests.get(ID) };
}

describe('stop of a quest', () => {
  it.each([
    ['waits', { status: 'waiting', resumed: 1 }, `${ID}:1`],
    ['runs', { status: 'running', jobId: 'job', fence: 1 }, ID],
    ['is pending', {}, ID],
  ] as const)('that %s is announced, and gives it a job that closes it', async (_name, more, key) => {
    const { stop, lease, announced, clock, read } = await setUp(more);
    expect(await stop(ID, 'Enough.')).toMatchObject({ status: 'stopped', explanation: 'Enough.' });
    expect(await read()).toMatchObject({ status: 'stopped', updatedAt: clock.now() });
    expect([announced, (await lease()).map((job) => job.key)]).toEqual([[ID], [key]]);
  });

  it('changes nothing after its end', async () => {
    const { stop, lease, announced } = await setUp({ status: 'done' });
    expect(await stop(ID, 'Enough.')).toBeUndefined();
    expect([announced, await lease()]).toEqual([[], []]);
  });

  it('is reported when its job cannot be added, and has been made', async () => {
    const error = new Error('away');
    const { stop, incidents, announced } = await setUp({}, (queue) => ({
      ...queue,
      enqueue: () => Promise.reject(error),
    }));
    expect(await stop(ID, 'Enough.')).toMatchObject({ status: 'stopped' });
    expect([incidents, announced]).toEqual([[{ operation: 'job:chat', requestId: '', error }], [ID]]);
  });
});
