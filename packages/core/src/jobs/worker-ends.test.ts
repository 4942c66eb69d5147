import { describe, expect, it } from 'vitest';
import { LEASE_MS, QUEUES, setUp, turns } from '../../test/worker.ts';

describe.each(QUEUES)('end of a job on a %s', (_name, createQueue) => {
  it('retries a failed job with growing delays, and reports the reason', async () => {
    const attempts: { attempt: number; at: number }[] = [];
    const { clock, queue, worker, incidents } = setUp(createQueue, async (job) => {
      attempts.push({ attempt: job.attempt, at: clock.now() - begun });
      if (job.attempt < 4) throw new Error(`failure ${job.attempt}`);
      return undefined;
    });
    const begun = clock.now();
    worker.start();
    await queue.enqueue({ kind: 'work', payload: 1, key: 'a' });
    await turns();
    for (let second = 0; second < 10; second += 1) {
      await clock.advance(1000);
      await turns();
    }
    expect(attempts).toEqual([
      { attempt: 1, at: 0 },
      { attempt: 2, at: 1000 },
      { attempt: 3, at: 3000 },
      { attempt: 4, at: 7000 },
    ]);
    expect(incidents).toEqual(['job:work', 'job:work', 'job:work']);
    expect(await queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 0 });
  });

  it('drains: accepts no new jobs, lets running ones end, and returns the rest as if they had not run', async () => {
    const gates: (() => void)[] = [];
    const { clock, queue, worker, ran } = setUp(
      createQueue,
      (_job, signal) =>
        new Promise((resolve, reject) => {
          gates.push(() => resolve(undefined));
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        }),
      { work: 2 },
    );
    worker.start();
    for (const key of ['a', 'b', 'c']) await queue.enqueue({ kind: 'work', payload: key, key });
    await turns();
    const drained = worker.drain(5000);
    gates[0]?.();
    await turns();
    expect(ran).toEqual(['a', 'b']);
    await clock.advance(5000);
    await drained;
    expect(await queue.counts()).toEqual({ ready: 2, delayed: 0, leased: 0 });
    const back = await queue.lease({ kinds: ['work'], limit: 9, leaseMs: LEASE_MS });
    expect(back.map(({ payload, attempt }) => [payload, attempt]).sort()).toEqual([
      ['b', 1],
      ['c', 1],
    ]);
    expect(clock.pending).toBe(0);
  });

  it.each([
    ['an owner', { work: 6 }, { work: 2 }],
    ['a full kind', { work: 2, other: 4 }, { work: 9 }],
  ])(
    'starts the next job of %s at once when one ends while the worker leases',
    async (_of, most, perOwner) => {
      const gates: (() => void)[] = [];
      const { queue, worker, ran } = setUp(
        (clock) => {
          const whole = createQueue(clock);
          return {
            ...whole,
            async lease(options) {
              const leased = await whole.lease(options);
              if (leased.every(({ payload }) => payload !== 'b')) return leased;
              // The worker has counted the first job as running.
              gates[0]?.();
              await turns();
              return leased;
            },
          };
        },
        () => new Promise((resolve) => gates.push(() => resolve(undefined))),
        most,
        {},
        perOwner,
      );
      const enqueue = (key: string) => queue.enqueue({ kind: 'work', payload: key, key, owner: 'ada' });
      worker.start();
      await enqueue('a');
      await turns();
      await Promise.all([enqueue('b'), enqueue('c')]);
      await turns(30);
      expect(ran).toEqual(['a', 'b', 'c']);
    },
  );
});
