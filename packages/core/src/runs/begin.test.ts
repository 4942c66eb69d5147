import { createMemoryQueue, createMemoryStore } from '@questline/core/memory';
import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { delayed } from '../../test/delayed.ts';
import { createJobSlots } from '../jobs/job-slots.ts';
import type { Accepted } from '../operations/idempotency.ts';
import type { JobQueue } from '../ports/queue.ts';
import { createBeginQuest } from './begin.ts';
import { questJob } from './quest-job.ts';
import { newQuest, QUESTS, type QuestRecord } from './records.ts';

const ID = 'q1';
const CALL = { caller: { userId: 'ada' } } as never;

interface Options {
  readonly accepted?: Partial<Accepted<{ readonly id: string }>>;
  readonly failure?: Error;
  readonly queue?: (queue: JobQueue) => JobQueue;
  readonly quest?: Partial<QuestRecord>;
  readonly entering?: Promise<void>;
}

/** Accepts one quest. The key of the request is that of the test. */
async function setUp({ accepted, failure, queue: change = (queue) => queue, quest, entering }: Options = {}) {
  const clock = createFakeClock();
  const store = createMemoryStore();
  const quests = store.collection(QUESTS);
  const request = { payer: { account: 'user:a' }, requestId: 'r' } as never;
  const record = newQuest({ id: ID, kind: 'chat', sessionId: 's', ownerId: 'ada', request }, clock.now());
  await quests.insert({ ...record, ...quest });
  const memory = createMemoryQueue({ clock, ids: createFakeIds() });
  const calls: unknown[] = [];
  const slots: string[] = [];
  const jobSlots = createJobSlots();
  jobSlots.offer(() => ({
    leaseMs: 1000,
    start: ({ id }) => void slots.push(`start ${id}`),
    cancel: () => void slots.push('cancel'),
  }));
  const begin = createBeginQuest({
    ...{ store: delayed(store), queue: change(memory), jobSlots, clock },
    admissionControl: { admit: () => void calls.push('admit') } as never,
    workLine: {
      open(userId: string) {
        calls.push(`open ${userId}`);
        return { enter: () => entering, end: (isStored: boolean) => void calls.push(`end ${isStored}`) };
      },
    } as never,
    idempotency: {
      async accept(
        _request: unknown,
        prepare: () => Promise<unknown>,
        complete?: (answer: object) => unknown,
      ) {
        await prepare();
        if (failure !== undefined) throw failure;
        calls.push(complete === undefined ? 'stored' : complete({ id: ID }));
        return {
          ...{ answer: { id: ID }, isRepeated: false, isRepeatable: false, isWhole: false },
          ...accepted,
        };
      },
    } as never,
  });
  const run = () =>
    begin(
      { call: CALL, path: '/', body: {} },
      async () => {
        calls.push('prepare');
        return { answer: { id: ID }, write: async () => undefined };
      },
      () => questJob(record),
    );
  const lease = async () => (await memory.lease({ kinds: ['chat'], limit: 9, leaseMs: 1 })).length;
  return { run, calls, slots, lease, read: () => quests.get(ID), clock };
}

/** A queue that leases jobs from the beginning. */
const leasing = (queue: JobQueue): JobQueue => ({
  ...queue,
  writes: {
    enqueue: () => ({ do: 'engine' }) as never,
    finish: () => ({ do: 'engine' }) as never,
    enqueueLeased: () => ({ write: { do: 'engine' } as never, job: { id: 'job' } as never }),
  },
});

const PASSED = ['admit', 'open ada', 'prepare', 'stored', 'end true'];

describe('quest that is accepted', () => {
  it('is admitted, stored and enqueued', async () => {
    const { run, calls, lease } = await setUp();
    expect(await run()).toEqual({ id: ID });
    expect([calls, await lease()]).toEqual([PASSED, 1]);
  });

  it('waits for its place in the line before it is prepared', async () => {
    let enter = (): void => undefined;
    const entering = new Promise<void>((resolve) => {
      enter = resolve;
    });
    const { run, calls, clock } = await setUp({ entering });
    const running = run();
    await clock.advance(0);
    expect(calls).toEqual(['admit', 'open ada']);
    enter();
    await running;
    expect(calls).toEqual(PASSED);
  });

  it('has its job written with it, where the queue can', async () => {
    for (const isWhole of [true, false]) {
      const write = { do: 'engine' } as never;
      const { run, calls, lease } = await setUp({
        accepted: { isWhole },
        queue: (queue) => ({ ...queue, writes: { enqueue: () => write, finish: () => write } }),
      });
      await run();
      expect([calls[3], await lease()]).toEqual([{ write }, isWhole ? 0 : 1]);
    }
  });

  it('again is enqueued only while no worker has had it', async () => {
    for (const status of ['pending', 'running'] as const) {
      const { run, lease } = await setUp({
        accepted: { isRepeated: true, isRepeatable: true },
        quest: { status },
      });
      await run();
      expect(await lease()).toBe(status === 'pending' ? 1 : 0);
    }
    const first = await setUp({ quest: { status: 'running' } });
    await first.run();
    expect(await first.lease()).toBe(1);
  });
});

describe('quest with a free worker in its process', () => {
  it.each([
    ['starts there', { accepted: { isWhole: true } }, ['start job']],
    ['gives its slot back when it was written without its job', {}, ['cancel']],
    ['gives its slot back when it is not written', { failure: new Error('no') }, []],
  ])('%s', async (_name, options, expected) => {
    const { run, clock, slots } = await setUp({ ...options, queue: leasing });
    await run().catch(() => undefined);
    await clock.advance(0);
    expect(slots).toEqual(expected);
  });
});

describe('quest that cannot be accepted', () => {
  it('leaves its place in the line', async () => {
    const failure = new Error('no');
    const { run, calls, lease } = await setUp({ failure });
    await expect(run()).rejects.toBe(failure);
    expect([calls.at(-1), await lease()]).toEqual(['end false', 0]);
  });

  it('because it cannot be enqueued is stopped and closed, unless a retry finds it', async () => {
    const error = new Error('away');
    const queue = (own: JobQueue): JobQueue => ({ ...own, enqueue: () => Promise.reject(error) });
    for (const isRepeatable of [true, false]) {
      const { run, calls, read, clock } = await setUp({ accepted: { isRepeatable }, queue });
      await expect(run()).rejects.toBe(error);
      const quest = await read();
      expect([quest?.status, calls.at(-1)]).toEqual([isRepeatable ? 'pending' : 'stopped', 'end false']);
      if (isRepeatable) continue;
      expect(quest).toMatchObject({
        explanation: expect.stringContaining('try again'),
        updatedAt: clock.now(),
      });
      expect(quest).not.toHaveProperty('liveSince');
    }
  });
});
