import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createJobSlots } from '../jobs/job-slots.ts';
import type { JobWrites, LeasedJob, NewJob } from '../ports/queue.ts';
import { openJob } from './open-job.ts';

const JOB: NewJob = { kind: 'chat', key: 'q', owner: 'ada', payload: {} };
const LEASE = { id: 'job', fence: 1 } as LeasedJob;

/** A process with a worker that has a slot, on a queue with these writes. */
function setUp(change: (writes: JobWrites) => JobWrites | undefined = (writes) => writes, hasSlot = true) {
  const calls: unknown[] = [];
  const writes = change({
    enqueue: (job) => ({ enqueue: job }) as never,
    finish: () => ({}) as never,
    enqueueLeased: (job, leaseMs) => ({ write: { leased: job, leaseMs } as never, job: LEASE }),
  });
  const jobSlots = createJobSlots();
  jobSlots.offer((kind, owner) => {
    calls.push(['acquire', kind, owner]);
    if (!hasSlot) return undefined;
    return {
      leaseMs: 7000,
      start: (job) => void calls.push(['start', job]),
      cancel: () => void calls.push(['cancel']),
    };
  });
  const opened = openJob({ queue: { ...(writes && { writes }) } as never, jobSlots });
  return { opened, calls };
}

const ACQUIRED = ['acquire', 'chat', 'ada'];

describe('job of a quest that is accepted', () => {
  it('is leased from the beginning by its process, which starts it after the answer', async () => {
    const { opened, calls } = setUp();
    expect(opened.toWrite(JOB)).toEqual({ write: { leased: JOB, leaseMs: 7000 }, lease: LEASE });
    opened.end(true);
    expect(calls).toEqual([ACQUIRED]);
    await turn();
    expect(calls).toEqual([ACQUIRED, ['start', LEASE]]);
  });

  it('gives its slot back when the write had no effect', async () => {
    const { opened, calls } = setUp();
    opened.toWrite(JOB);
    opened.end(false);
    await turn();
    expect(calls).toEqual([ACQUIRED, ['cancel']]);
  });

  it('is enqueued when no worker of the process is free', async () => {
    const { opened, calls } = setUp((writes) => writes, false);
    expect(opened.toWrite(JOB)).toEqual({ write: { enqueue: JOB } });
    opened.end(true);
    await turn();
    expect(calls).toEqual([ACQUIRED]);
  });

  it('is enqueued when it runs later, or the queue leases none from the beginning', () => {
    const later = setUp();
    expect(later.opened.toWrite({ ...JOB, runAt: 5 })).toEqual({ write: { enqueue: { ...JOB, runAt: 5 } } });
    const { opened, calls } = setUp(({ enqueueLeased: _, ...writes }) => writes);
    expect(opened.toWrite(JOB)).toEqual({ write: { enqueue: JOB } });
    expect([later.calls, calls]).toEqual([[], []]);
  });

  it('has no write on a queue of another engine', () => {
    const { opened, calls } = setUp(() => undefined);
    expect(opened.toWrite(JOB)).toBeUndefined();
    opened.end(false);
    expect(calls).toEqual([]);
  });
});
