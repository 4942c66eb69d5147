import { createMemoryQueue } from '@questline/core/memory';
import type { JobQueue, LeasedJob } from '@questline/core/ports';
import fc from 'fast-check';
import { expect } from 'vitest';
import { createFakeIds } from '../ids.ts';
import { getRuns } from '../suite.ts';
import type { QueueCase, QueueSubject } from './subject.ts';

interface Step {
  readonly do: 'enqueue' | 'lease' | 'renew' | 'finish' | 'retry' | 'advance' | 'counts';
  /** The index of a key, or of a leased job. */
  readonly at: number;
  readonly isLater: boolean;
}

const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom(
    'enqueue' as const,
    'enqueue' as const,
    'lease' as const,
    'lease' as const,
    'renew' as const,
    'finish' as const,
    'retry' as const,
    'advance' as const,
    'counts' as const,
  ),
  at: fc.nat({ max: 5 }),
  isLater: fc.boolean(),
});

export const randomCases: readonly QueueCase[] = [
  {
    name: 'behaves like the reference for any sequence of calls',
    section: 'random',
    async run(subject, random) {
      let run = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 50 }), async (steps) => {
          run += 1;
          await compare(subject, steps, run);
        }),
        getRuns(random),
      );
    },
  },
];

/** One side of the comparison: a queue and its leased jobs, oldest first. */
interface Side {
  readonly queue: JobQueue;
  readonly leased: LeasedJob[];
}

async function compare(subject: QueueSubject, steps: readonly Step[], run: number): Promise<void> {
  const { time } = subject;
  const clock = { now: () => time.now(), timer: () => () => undefined };
  const tested: Side = { queue: subject.queue, leased: [] };
  const reference: Side = { queue: createMemoryQueue({ clock, ids: createFakeIds() }), leased: [] };
  const kinds = [`run ${run} a`, `run ${run} b`];
  const start = time.now();
  const long = 40 * time.unit;
  // Jobs are due at different instants, because engines may order equal ones freely.
  const dueAt = (number: number, isLater: boolean) =>
    isLater && time.isExact ? start + time.unit + number : start - number * time.unit;

  const perform = async ({ queue, leased }: Side, { do: what, at, isLater }: Step, now: number) => {
    const job = leased.at(-1 - (at % 3));
    switch (what) {
      case 'enqueue': {
        const runAt = dueAt(at, isLater);
        const kind = kinds[at % 2] ?? '';
        const { added } = await queue.enqueue({ kind, payload: at, key: `${run}:${at}`, runAt });
        return added;
      }
      case 'lease': {
        const leaseMs = time.isExact && isLater ? time.unit : long;
        const jobs = await queue.lease({ kinds: kinds.slice(at % 2), limit: 1 + (at % 3), leaseMs });
        leased.push(...jobs);
        return jobs.map(({ key, payload, attempt }) => ({ key, payload, attempt }));
      }
      case 'renew':
        return job && !isOver(job, now) && queue.renew(job, long);
      case 'finish':
        return job && !isOver(job, now) && queue.finish(job);
      case 'retry':
        return (
          job &&
          !isOver(job, now) &&
          queue.retry(job, { runAt: dueAt(Number(job.payload), isLater), countAttempt: at % 2 === 0 })
        );
      case 'counts':
        return queue.counts();
      case 'advance':
        return undefined;
    }
  };

  try {
    for (const each of steps) {
      if (each.do === 'advance' && time.isExact) await time.advance(time.unit / 2);
      const now = time.now();
      expect(await perform(tested, each, now)).toEqual(await perform(reference, each, now));
    }
  } finally {
    // Ends every job of the run, so that the next one begins with an empty queue.
    for (const job of tested.leased) await tested.queue.finish(job);
    if (time.isExact) await time.advance(2 * long);
    const left = await tested.queue.lease({ kinds, limit: 100, leaseMs: long });
    for (const job of left) await tested.queue.finish(job);
  }
}

/** A late call may or may not be accepted: engines differ, so this is not tested. */
function isOver(job: LeasedJob, now: number): boolean {
  return job.leaseUntil <= now;
}
