import { expect } from 'vitest';
import { expectCounts, KIND, LONG, lease, mustLease, type QueueCase, toJob } from './subject.ts';

const getKeys = (jobs: readonly { readonly key: string }[]) => jobs.map(({ key }) => key);

export const jobCases: readonly QueueCase[] = [
  {
    name: 'leases nothing from an empty queue',
    section: 'behaviour',
    async run(subject) {
      expect(await lease(subject, subject.queue, 10)).toEqual([]);
      await expectCounts(subject, 0, 0, 0);
    },
  },
  {
    name: 'leases a job as enqueued and ends it on finish',
    section: 'behaviour',
    async run(subject) {
      const { queue, time } = subject;
      const payload = { text: 'caf\u00e9 \u{1f30d}', list: [1, null, { deep: true }] };
      const before = time.now();
      const { id, added } = await queue.enqueue({ kind: KIND, payload, key: 'quest:1' });
      expect(added).toBe(true);
      await expectCounts(subject, 1, 0, 0);
      const job = await mustLease(subject);
      expect(job).toMatchObject({ id, kind: KIND, payload, key: 'quest:1', attempt: 1 });
      expect(job.leaseUntil).toBeGreaterThanOrEqual(before + (LONG - 2) * time.unit);
      await expectCounts(subject, 0, 0, 1);
      expect(await lease(subject, queue, 10)).toEqual([]);
      expect(await queue.finish(job)).toBe(true);
      await expectCounts(subject, 0, 0, 0);
      expect(await lease(subject, queue, 10)).toEqual([]);
      expect(await queue.finish(job)).toBe(false);
    },
  },
  {
    name: 'keeps a job when the caller changes the values passed in',
    section: 'behaviour',
    async run(subject) {
      const payload = { list: ['stored'] };
      await subject.queue.enqueue(toJob('one', { payload }));
      payload.list.push('changed');
      expect((await mustLease(subject)).payload).toEqual({ list: ['stored'] });
    },
  },
  {
    name: 'accepts a key once while its job waits or is leased',
    section: 'behaviour',
    async run(subject) {
      const { queue } = subject;
      const { id } = await queue.enqueue(toJob('one'));
      expect(await queue.enqueue(toJob('one', { payload: 'other' }))).toEqual({ id, added: false });
      const job = await mustLease(subject);
      expect(await queue.enqueue(toJob('one'))).toEqual({ id, added: false });
      await queue.finish(job);
      const next = await queue.enqueue(toJob('one'));
      expect(next.added).toBe(true);
      expect((await mustLease(subject)).attempt).toBe(1);
    },
  },
  {
    name: 'finds the keys of waiting and leased jobs, if it can',
    section: 'behaviour',
    async run(subject) {
      const { queue, time } = subject;
      for (const key of ['one', 'two', 'ended']) await queue.enqueue(toJob(key));
      await queue.enqueue(toJob('later', { runAt: time.now() + LONG * time.unit }));
      for (const job of await lease(subject, queue, 3)) if (job.key === 'ended') await queue.finish(job);
      const found = await queue.findKeys?.(['one', 'ended', 'unknown', 'later', "it's"]);
      if (found !== undefined) expect([...found].sort()).toEqual(['later', 'one']);
      expect((await queue.findKeys?.([])) ?? []).toEqual([]);
    },
  },
  {
    name: 'leases the oldest due jobs first, up to the limit',
    section: 'behaviour',
    async run(subject) {
      const { queue, time } = subject;
      const now = time.now();
      const ago = (units: number) => ({ runAt: now - units * time.unit });
      await queue.enqueue(toJob('second', ago(2)));
      await queue.enqueue(toJob('first', ago(3)));
      await queue.enqueue(toJob('third', ago(1)));
      expect(getKeys(await lease(subject, queue, 2))).toEqual(['first', 'second']);
      expect(getKeys(await lease(subject, queue, 2))).toEqual(['third']);
    },
  },
  {
    name: 'leases only jobs of the requested kinds',
    section: 'behaviour',
    async run({ queue, time }) {
      await queue.enqueue(toJob('a', { kind: 'a' }));
      await queue.enqueue(toJob('b', { kind: 'b' }));
      await queue.enqueue(toJob('c', { kind: 'c' }));
      const want = { limit: 10, leaseMs: LONG * time.unit };
      expect(await queue.lease({ kinds: ['d'], ...want })).toEqual([]);
      expect(await queue.lease({ kinds: [], ...want })).toEqual([]);
      expect(getKeys(await queue.lease({ kinds: ['c', 'a'], ...want })).sort()).toEqual(['a', 'c']);
      expect(getKeys(await queue.lease({ kinds: ['a', 'b'], ...want }))).toEqual(['b']);
    },
  },
  {
    name: 'leases a delayed job at its time',
    section: 'behaviour',
    async run(subject) {
      const { queue, time } = subject;
      await queue.enqueue(toJob('later', { runAt: time.now() + 4 * time.unit }));
      await queue.enqueue(toJob('much later', { runAt: time.now() + LONG * time.unit }));
      expect(await lease(subject, queue, 10)).toEqual([]);
      await expectCounts(subject, 0, 2, 0);
      await time.advance(4.5 * time.unit);
      await expectCounts(subject, 1, 1, 0);
      expect(getKeys(await lease(subject, queue, 10))).toEqual(['later']);
    },
  },
  {
    name: 'leases a delayed job to the millisecond',
    section: 'behaviour',
    needsExactTime: true,
    async run(subject) {
      const { queue, time } = subject;
      await queue.enqueue(toJob('later', { runAt: time.now() + time.unit }));
      await time.advance(time.unit - 1);
      expect(await lease(subject, queue, 10)).toEqual([]);
      await time.advance(1);
      expect(getKeys(await lease(subject, queue, 10))).toEqual(['later']);
    },
  },
  {
    name: 'runs a returned job at its time as another attempt',
    section: 'behaviour',
    async run(subject) {
      const { queue, time } = subject;
      await queue.enqueue(toJob('one'));
      const first = await mustLease(subject);
      const runAt = time.now() + 4 * time.unit;
      expect(await queue.retry(first, { runAt, countAttempt: true })).toBe(true);
      await expectCounts(subject, 0, 1, 0);
      expect(await lease(subject, queue)).toEqual([]);
      await time.advance(4.5 * time.unit);
      const second = await mustLease(subject);
      expect(second).toMatchObject({ id: first.id, payload: first.payload, key: first.key, attempt: 2 });
      expect(second.fence).toBeGreaterThan(first.fence);
    },
  },
  {
    name: 'runs a job returned uncounted as the same attempt',
    section: 'behaviour',
    async run(subject) {
      const { queue, time } = subject;
      await queue.enqueue(toJob('one'));
      const first = await mustLease(subject);
      expect(await queue.retry(first, { runAt: time.now(), countAttempt: false })).toBe(true);
      const second = await mustLease(subject);
      expect(second.attempt).toBe(1);
      expect(second.fence).toBeGreaterThan(first.fence);
    },
  },
  {
    name: 'ignores a worker after it returned the job',
    section: 'behaviour',
    async run(subject) {
      const { queue, time } = subject;
      await queue.enqueue(toJob('one'));
      const job = await mustLease(subject);
      await queue.retry(job, { runAt: time.now(), countAttempt: true });
      expect(await queue.finish(job)).toBe(false);
      expect(await queue.renew(job, time.unit)).toBe(false);
      expect(await queue.retry(job, { runAt: time.now() + LONG * time.unit, countAttempt: false })).toBe(
        false,
      );
      await expectCounts(subject, 1, 0, 0);
      expect((await mustLease(subject)).attempt).toBe(2);
    },
  },
  {
    name: 'notifies listeners of due jobs until they stop',
    section: 'behaviour',
    async run(subject) {
      const { queue, time } = subject;
      let calls = 0;
      const stop = queue.onReady(() => {
        calls += 1;
      });
      await queue.enqueue(toJob('one'));
      await until(subject, () => calls > 0);
      expect(calls).toBeGreaterThan(0);
      stop();
      stop();
      const heard = calls;
      await queue.enqueue(toJob('two'));
      await time.advance(time.unit);
      expect(calls).toBe(heard);
    },
  },
  {
    name: 'continues when a listener throws',
    section: 'behaviour',
    async run(subject) {
      let calls = 0;
      const stops = [
        subject.queue.onReady(() => {
          throw new Error('a listener of bad manners');
        }),
        subject.queue.onReady(() => {
          calls += 1;
        }),
      ];
      expect((await subject.queue.enqueue(toJob('one'))).added).toBe(true);
      await until(subject, () => calls > 0);
      expect(calls).toBeGreaterThan(0);
      for (const stop of stops) stop();
    },
  },
];

/** Advances the time in small steps until a condition is true, for a maximum of units. */
async function until({ time }: Pick<Parameters<QueueCase['run']>[0], 'time'>, holds: () => boolean) {
  for (let step = 0; step < 40 && !holds(); step += 1) await time.advance(time.unit / 10);
}
