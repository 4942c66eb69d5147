import { expect } from 'vitest';
import { expectCounts, jobOf, KIND, LONG, lease, mustLease, type QueueCase } from './subject.ts';

const keysOf = (jobs: readonly { readonly key: string }[]) => jobs.map(({ key }) => key);

export const jobCases: readonly QueueCase[] = [
  {
    name: 'an empty queue has nothing to do',
    section: 'behaviour',
    async run(subject) {
      expect(await lease(subject, subject.queue, 10)).toEqual([]);
      await expectCounts(subject, 0, 0, 0);
    },
  },
  {
    name: 'a job is leased as it was enqueued, and ends with finish',
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
    name: 'what is handed in can be changed without changing the job',
    section: 'behaviour',
    async run(subject) {
      const payload = { list: ['stored'] };
      await subject.queue.enqueue(jobOf('one', { payload }));
      payload.list.push('changed');
      expect((await mustLease(subject)).payload).toEqual({ list: ['stored'] });
    },
  },
  {
    name: 'a key is there once while its job waits or is leased',
    section: 'behaviour',
    async run(subject) {
      const { queue } = subject;
      const { id } = await queue.enqueue(jobOf('one'));
      expect(await queue.enqueue(jobOf('one', { payload: 'other' }))).toEqual({ id, added: false });
      const job = await mustLease(subject);
      expect(await queue.enqueue(jobOf('one'))).toEqual({ id, added: false });
      await queue.finish(job);
      const next = await queue.enqueue(jobOf('one'));
      expect(next.added).toBe(true);
      expect((await mustLease(subject)).attempt).toBe(1);
    },
  },
  {
    name: 'the oldest due job comes first, up to the limit asked',
    section: 'behaviour',
    async run(subject) {
      const { queue, time } = subject;
      const now = time.now();
      const ago = (units: number) => ({ runAt: now - units * time.unit });
      await queue.enqueue(jobOf('second', ago(2)));
      await queue.enqueue(jobOf('first', ago(3)));
      await queue.enqueue(jobOf('third', ago(1)));
      expect(keysOf(await lease(subject, queue, 2))).toEqual(['first', 'second']);
      expect(keysOf(await lease(subject, queue, 2))).toEqual(['third']);
    },
  },
  {
    name: 'only jobs of the kinds asked are handed out',
    section: 'behaviour',
    async run({ queue, time }) {
      await queue.enqueue(jobOf('a', { kind: 'a' }));
      await queue.enqueue(jobOf('b', { kind: 'b' }));
      await queue.enqueue(jobOf('c', { kind: 'c' }));
      const want = { limit: 10, leaseMs: LONG * time.unit };
      expect(await queue.lease({ kinds: ['d'], ...want })).toEqual([]);
      expect(await queue.lease({ kinds: [], ...want })).toEqual([]);
      expect(keysOf(await queue.lease({ kinds: ['c', 'a'], ...want })).sort()).toEqual(['a', 'c']);
      expect(keysOf(await queue.lease({ kinds: ['a', 'b'], ...want }))).toEqual(['b']);
    },
  },
  {
    name: 'a delayed job is due at its time',
    section: 'behaviour',
    async run(subject) {
      const { queue, time } = subject;
      await queue.enqueue(jobOf('later', { runAt: time.now() + 4 * time.unit }));
      await queue.enqueue(jobOf('much later', { runAt: time.now() + LONG * time.unit }));
      expect(await lease(subject, queue, 10)).toEqual([]);
      await expectCounts(subject, 0, 2, 0);
      await time.advance(4.5 * time.unit);
      await expectCounts(subject, 1, 1, 0);
      expect(keysOf(await lease(subject, queue, 10))).toEqual(['later']);
    },
  },
  {
    name: 'a delayed job is due to the millisecond',
    section: 'behaviour',
    needsExactTime: true,
    async run(subject) {
      const { queue, time } = subject;
      await queue.enqueue(jobOf('later', { runAt: time.now() + time.unit }));
      await time.advance(time.unit - 1);
      expect(await lease(subject, queue, 10)).toEqual([]);
      await time.advance(1);
      expect(keysOf(await lease(subject, queue, 10))).toEqual(['later']);
    },
  },
  {
    name: 'a job given back runs again at its time, as another attempt',
    section: 'behaviour',
    async run(subject) {
      const { queue, time } = subject;
      await queue.enqueue(jobOf('one'));
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
    name: 'a job given back uncounted runs again as the same attempt',
    section: 'behaviour',
    async run(subject) {
      const { queue, time } = subject;
      await queue.enqueue(jobOf('one'));
      const first = await mustLease(subject);
      expect(await queue.retry(first, { runAt: time.now(), countAttempt: false })).toBe(true);
      const second = await mustLease(subject);
      expect(second.attempt).toBe(1);
      expect(second.fence).toBeGreaterThan(first.fence);
    },
  },
  {
    name: 'who has given a job back has no say in it any more',
    section: 'behaviour',
    async run(subject) {
      const { queue, time } = subject;
      await queue.enqueue(jobOf('one'));
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
    name: 'listeners hear of a job that is due, until they stop',
    section: 'behaviour',
    async run(subject) {
      const { queue, time } = subject;
      let calls = 0;
      const stop = queue.onReady(() => {
        calls += 1;
      });
      await queue.enqueue(jobOf('one'));
      await until(subject, () => calls > 0);
      expect(calls).toBeGreaterThan(0);
      stop();
      stop();
      const heard = calls;
      await queue.enqueue(jobOf('two'));
      await time.advance(time.unit);
      expect(calls).toBe(heard);
    },
  },
  {
    name: 'a listener that throws harms nobody',
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
      expect((await subject.queue.enqueue(jobOf('one'))).added).toBe(true);
      await until(subject, () => calls > 0);
      expect(calls).toBeGreaterThan(0);
      for (const stop of stops) stop();
    },
  },
];

/** Lets time pass in small steps until something holds, at most some units. */
async function until({ time }: Pick<Parameters<QueueCase['run']>[0], 'time'>, holds: () => boolean) {
  for (let step = 0; step < 40 && !holds(); step += 1) await time.advance(time.unit / 10);
}
