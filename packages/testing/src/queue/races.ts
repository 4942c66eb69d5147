import { expect } from 'vitest';
import { aborting, inParallel } from '../parallel.ts';
import { allQueues, expectCounts, LONG, lease, mustLease, type QueueCase, toJob } from './subject.ts';

const WHEN = ['before', 'during'] as const;

export const raceCases: readonly QueueCase[] = [
  {
    name: 'adds one job in 50 parallel enqueues of one key',
    section: 'race',
    async run(subject) {
      const answers = await inParallel(50, allQueues(subject), (queue) => queue.enqueue(toJob('one')));
      expect(answers.filter(({ added }) => added)).toHaveLength(1);
      expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
      await expectCounts(subject, 1, 0, 0);
    },
  },
  {
    name: 'gives a job to one of 50 parallel workers',
    section: 'race',
    async run(subject) {
      for (let round = 0; round < 3; round += 1) {
        await subject.queue.enqueue(toJob(`round ${round}`));
        const leased = await inParallel(50, allQueues(subject), (queue) => lease(subject, queue));
        expect(leased.flat()).toHaveLength(1);
      }
    },
  },
  {
    name: 'never leases one job to two parallel workers, and leases all jobs',
    section: 'race',
    async run(subject) {
      await inParallel(60, allQueues(subject), (queue, at) => queue.enqueue(toJob(`job ${at}`)));
      const leased = await inParallel(20, allQueues(subject), (queue) => lease(subject, queue, 4));
      // A worker may get fewer jobs while another leases; the others remain.
      const keys = leased.flat().map(({ key }) => key);
      expect(new Set(keys).size).toBe(keys.length);
      const rest = await lease(subject, subject.queue, 60);
      expect(new Set([...keys, ...rest.map(({ key }) => key)]).size).toBe(60);
      expect(keys.length + rest.length).toBe(60);
    },
  },
  {
    name: 'gives a job with an expired lease to one of 50 parallel workers',
    section: 'race',
    async run(subject) {
      await subject.queue.enqueue(toJob('one'));
      const lost = await mustLease(subject, 1);
      await subject.time.advance(1.5 * subject.time.unit);
      const leased = (await inParallel(50, allQueues(subject), (queue) => lease(subject, queue))).flat();
      expect(leased).toHaveLength(1);
      expect(leased[0]?.attempt).toBe(2);
      expect(leased[0]?.fence).toBeGreaterThan(lost.fence);
    },
  },
  {
    name: 'ends or requeues a job, never both, when finish, return and renewal run in parallel',
    section: 'race',
    async run(subject) {
      const { time } = subject;
      for (let round = 0; round < 10; round += 1) {
        await subject.queue.enqueue(toJob(`round ${round}`));
        const job = await mustLease(subject);
        const back = { runAt: time.now() + LONG * time.unit, countAttempt: true };
        const [finished, returned] = await inParallel(9, allQueues(subject), (queue, at) => {
          if (at % 3 === 0) return queue.finish(job);
          return at % 3 === 1 ? queue.retry(job, back) : queue.renew(job, LONG * time.unit);
        }).then((answers) => [
          answers.filter((answer, at) => answer && at % 3 === 0).length,
          answers.filter((answer, at) => answer && at % 3 === 1).length,
        ]);
        expect((finished ?? 0) + (returned ?? 0)).toBe(1);
        expect((await subject.queue.enqueue(toJob(`round ${round}`))).added).toBe(finished === 1);
        const { leased } = await subject.queue.counts();
        expect(leased).toBe(0);
        for (const left of await lease(subject, subject.queue, 100)) await subject.queue.finish(left);
      }
    },
  },
  {
    name: 'lets only one of the late and the next worker end the job',
    section: 'race',
    async run(subject) {
      const { time } = subject;
      for (let round = 0; round < 3; round += 1) {
        await subject.queue.enqueue(toJob(`round ${round}`));
        const late = await mustLease(subject, 1);
        await time.advance(1.5 * time.unit);
        const ends = await inParallel(10, allQueues(subject), async (queue, at) => {
          if (at === 5) return queue.finish(late);
          const [next] = await lease(subject, queue);
          return next !== undefined && queue.finish(next);
        });
        expect(ends.filter(Boolean)).toHaveLength(1);
        await expectCounts(subject, 0, 0, 0);
      }
    },
  },
];

export const abortCases: readonly QueueCase[] = WHEN.flatMap((when): QueueCase[] => [
  {
    name: `adds a job once when an enqueue is aborted ${when} the call and repeated`,
    section: 'abort',
    async run(subject) {
      const attempt = await aborting(when, (signal) => subject.queue.enqueue(toJob('one'), { signal }));
      const again = await subject.queue.enqueue(toJob('one'));
      if (attempt.isDone) expect(again).toEqual({ id: attempt.value.id, added: false });
      await expectCounts(subject, 1, 0, 0);
      expect(await lease(subject, subject.queue, 10)).toHaveLength(1);
    },
  },
  {
    name: `loses no job when a lease is aborted ${when} the call`,
    section: 'abort',
    async run(subject) {
      const { queue, time } = subject;
      await queue.enqueue(toJob('one'));
      const want = { kinds: ['quest'], limit: 1, leaseMs: time.unit };
      const attempt = await aborting(when, (signal) => queue.lease(want, { signal }));
      const { ready, leased } = await queue.counts();
      expect(ready + leased).toBe(1);
      if (attempt.isDone) expect(leased).toBe(attempt.value.length);
      await time.advance(1.5 * time.unit);
      expect(await lease(subject, queue)).toHaveLength(1);
    },
  },
  {
    name: `ends a job or keeps it when its finish is aborted ${when} the call`,
    section: 'abort',
    async run(subject) {
      const { queue, time } = subject;
      await queue.enqueue(toJob('one'));
      const job = await mustLease(subject);
      const attempt = await aborting(when, (signal) => queue.finish(job, { signal }));
      const { leased } = await queue.counts();
      if (attempt.isDone) expect(leased).toBe(0);
      expect(await queue.finish(job)).toBe(leased === 1);
      await queue.enqueue(toJob('two'));
      const other = await mustLease(subject);
      const back = { runAt: time.now() + LONG * time.unit, countAttempt: true };
      await aborting(when, (signal) => queue.retry(other, back, { signal }));
      const counts = await queue.counts();
      expect(counts.delayed + counts.leased).toBe(1);
      expect(await queue.retry(other, back)).toBe(counts.leased === 1);
    },
  },
]);
