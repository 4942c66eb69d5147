import { expect } from 'vitest';
import { expectCounts, LONG, lease, mustLease, type QueueCase, toJob } from './subject.ts';

export const leaseCases: readonly QueueCase[] = [
  {
    name: 'leases a job again under a greater fence after its lease expired',
    section: 'behaviour',
    async run(subject) {
      await subject.queue.enqueue(toJob('one'));
      const first = await mustLease(subject, 1);
      await subject.time.advance(1.5 * subject.time.unit);
      await expectCounts(subject, 1, 0, 0);
      const second = await mustLease(subject);
      expect(second).toMatchObject({ id: first.id, payload: first.payload, key: first.key, attempt: 2 });
      expect(second.fence).toBeGreaterThan(first.fence);
      await expectCounts(subject, 0, 0, 1);
    },
  },
  {
    name: 'ignores a worker that lost its lease',
    section: 'behaviour',
    async run(subject) {
      const { queue, time } = subject;
      await queue.enqueue(toJob('one'));
      const lost = await mustLease(subject, 1);
      await time.advance(1.5 * time.unit);
      const held = await mustLease(subject);
      expect(await queue.finish(lost)).toBe(false);
      expect(await queue.renew(lost, LONG * time.unit)).toBe(false);
      expect(await queue.retry(lost, { runAt: time.now(), countAttempt: false })).toBe(false);
      await expectCounts(subject, 0, 0, 1);
      expect(await lease(subject, queue)).toEqual([]);
      expect(await queue.finish(held)).toBe(true);
      await expectCounts(subject, 0, 0, 0);
    },
  },
  {
    name: 'accepts or rejects a finish between expiry and the next lease as a whole',
    section: 'behaviour',
    async run(subject) {
      const { queue, time } = subject;
      await queue.enqueue(toJob('one'));
      const late = await mustLease(subject, 1);
      await time.advance(1.5 * time.unit);
      const isFinished = await queue.finish(late);
      expect(await lease(subject, queue)).toHaveLength(isFinished ? 0 : 1);
      expect((await queue.enqueue(toJob('one'))).added).toBe(isFinished);
    },
  },
  {
    name: 'uses the lease time of a kind, and the default for the others',
    section: 'behaviour',
    async run({ queue, time }) {
      for (const kind of ['a', 'b', 'c d.e']) await queue.enqueue(toJob(kind, { kind }));
      const want = { kinds: ['a', 'b', 'c d.e'], limit: 10, leaseMs: LONG * time.unit };
      // Long enough that in real time no lease ends while the other kinds are leased.
      const leaseMsByKind = { a: 3 * time.unit, 'c d.e': 4 * time.unit, other: time.unit };
      const before = time.now();
      const jobs = await queue.lease({ ...want, leaseMsByKind });
      const after = time.now();
      for (const [kind, units] of [['a', 3] as const, ['b', LONG] as const, ['c d.e', 4] as const]) {
        const until = jobs.find((job) => job.kind === kind)?.leaseUntil;
        expect(until).toBeGreaterThanOrEqual(before + units * time.unit);
        expect(until).toBeLessThanOrEqual(after + units * time.unit);
      }
      await time.advance(4.5 * time.unit);
      const back = await queue.lease(want);
      expect(back.map(({ key, attempt }) => [key, attempt]).sort()).toEqual([
        ['a', 2],
        ['c d.e', 2],
      ]);
    },
  },
  {
    name: 'keeps a renewed lease',
    section: 'behaviour',
    async run(subject) {
      const { queue, time } = subject;
      await queue.enqueue(toJob('one'));
      const job = await mustLease(subject, 4);
      expect(await queue.renew(job, LONG * time.unit)).toBe(true);
      await time.advance(4.5 * time.unit);
      expect(await lease(subject, queue)).toEqual([]);
      await expectCounts(subject, 0, 0, 1);
      expect(await queue.finish(job)).toBe(true);
    },
  },
  {
    name: 'ends a lease at a shorter renewal',
    section: 'behaviour',
    async run(subject) {
      const { queue, time } = subject;
      await queue.enqueue(toJob('one'));
      const job = await mustLease(subject);
      expect(await queue.renew(job, time.unit)).toBe(true);
      await time.advance(1.5 * time.unit);
      expect((await mustLease(subject)).attempt).toBe(2);
    },
  },
  {
    name: 'expires a lease to the millisecond',
    section: 'behaviour',
    needsExactTime: true,
    async run(subject) {
      const { queue, time } = subject;
      await queue.enqueue(toJob('one'));
      const job = await mustLease(subject, 1);
      expect(job.leaseUntil).toBe(time.now() + time.unit);
      await time.advance(time.unit - 1);
      expect(await lease(subject, queue)).toEqual([]);
      await time.advance(1);
      expect(await lease(subject, queue)).toHaveLength(1);
    },
  },
  {
    name: 'does not return a finished job when its lease would have expired',
    section: 'behaviour',
    async run(subject) {
      const { queue, time } = subject;
      await queue.enqueue(toJob('one'));
      await queue.enqueue(toJob('two'));
      const [one, two] = await lease(subject, queue, 2, 2);
      if (one === undefined || two === undefined) throw new Error('expected two jobs to be due');
      await queue.finish(one);
      await queue.retry(two, { runAt: time.now() + LONG * time.unit, countAttempt: true });
      await time.advance(2.5 * time.unit);
      expect(await lease(subject, queue)).toEqual([]);
      await expectCounts(subject, 0, 1, 0);
    },
  },
  {
    name: 'returns an unfinished job however often its workers vanish',
    section: 'behaviour',
    async run(subject) {
      const { queue, time } = subject;
      await queue.enqueue(toJob('one'));
      for (let attempt = 1; attempt <= 4; attempt += 1) {
        expect((await mustLease(subject, 1)).attempt).toBe(attempt);
        await time.advance(1.5 * time.unit);
      }
      expect(await queue.finish(await mustLease(subject))).toBe(true);
    },
  },
  {
    name: 'notifies listeners of a delayed job and of an expired lease',
    section: 'behaviour',
    needsExactTime: true,
    async run(subject) {
      const { queue, time } = subject;
      let calls = 0;
      await queue.enqueue(toJob('later', { runAt: time.now() + time.unit }));
      const stop = queue.onReady(() => {
        calls += 1;
      });
      await time.advance(time.unit);
      expect(calls).toBeGreaterThan(0);
      await mustLease(subject, 1);
      const heard = calls;
      await time.advance(time.unit);
      expect(calls).toBeGreaterThan(heard);
      stop();
    },
  },
];
