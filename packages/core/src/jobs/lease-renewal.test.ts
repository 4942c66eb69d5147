import { createFakeClock } from '@questline/testing';
import { expect, it } from 'vitest';
import type { JobQueue, LeasedJob } from '../ports/queue.ts';
import { createLeaseRenewal } from './lease-renewal.ts';

const BEAT_MS = 1000;

/** @param renew answers the renewals; false: the lease is lost. */
function setUp(renew: () => Promise<boolean> = async () => true) {
  const clock = createFakeClock();
  const renewed: [at: number, leaseMs: number][] = [];
  const reported: [kind: string, error: unknown][] = [];
  const begun = clock.now();
  const queue: Pick<JobQueue, 'renew'> = {
    renew(_job, leaseMs) {
      renewed.push([clock.now() - begun, leaseMs]);
      return renew();
    },
  };
  const renewal = createLeaseRenewal({
    queue: queue as JobQueue,
    clock,
    beatMs: BEAT_MS,
    report: (kind, error) => reported.push([kind, error]),
  });
  const job = { kind: 'work', leaseUntil: begun + 6000 } as LeasedJob;
  const lease = renewal.enter(job, 6000);
  const beat = async (times = 1): Promise<void> => {
    for (let time = 0; time < times; time += 1) {
      await clock.advance(BEAT_MS);
      renewal.renewAll([lease]);
      await clock.advance(0);
    }
  };
  return { clock, renewal, lease, beat, renewed, reported };
}

it('renews a lease in the last call before a third of it is over', async () => {
  const { lease, beat, renewed } = setUp();
  await beat(1);
  expect(renewed).toEqual([]);
  await beat(1);
  expect(renewed).toEqual([[2000, 6000]]);
  await beat(4);
  expect(renewed.map(([at]) => at)).toEqual([2000, 4000, 6000]);
  expect(lease.interruption.signal.aborted).toBe(false);
});

it('renews before the third is exceeded if the calls do not meet it', async () => {
  const { clock, beat, renewed } = setUp();
  await clock.advance(1);
  await beat(1);
  expect(renewed).toEqual([[1001, 6000]]);
});

it('renews an extended lease after a third of the new time', async () => {
  const { renewal, lease, beat, renewed } = setUp();
  await renewal.extend(lease, 9000);
  await beat(6);
  expect(renewed).toEqual([
    [0, 9000],
    [3000, 9000],
    [6000, 9000],
  ]);
});

it('interrupts a job whose lease is lost', async () => {
  const { renewal, lease, beat, reported } = setUp(async () => false);
  await beat(2);
  expect(lease.interruption.signal.reason).toMatchObject({ reason: 'lease-lost' });
  await expect(renewal.extend(lease, 9000)).rejects.toMatchObject({ reason: 'lease-lost' });
  expect(reported).toEqual([]);
});

it('keeps a job while renewals fail, until its lease is over', async () => {
  const error = new Error('away');
  const { lease, beat, reported } = setUp(() => Promise.reject(error));
  await beat(5);
  expect(lease.interruption.signal.aborted).toBe(false);
  await beat(1);
  expect(lease.interruption.signal.reason).toMatchObject({ reason: 'lease-lost' });
  expect(reported).toEqual([
    ['work', error],
    ['work', error],
    ['work', error],
  ]);
});

it('counts the time that renewals have added', async () => {
  let isAway = false;
  const { lease, beat } = setUp(() => (isAway ? Promise.reject(new Error('away')) : Promise.resolve(true)));
  await beat(4);
  isAway = true;
  await beat(5);
  expect(lease.interruption.signal.aborted).toBe(false);
  await beat(1);
  expect(lease.interruption.signal.aborted).toBe(true);
});

it('reports a failed extension to its caller', async () => {
  const { renewal, lease } = setUp(() => Promise.reject(new Error('away')));
  await expect(renewal.extend(lease, 9000)).rejects.toThrow('away');
});

it('asks for one renewal at a time', async () => {
  let answer = (_isOurs: boolean): void => undefined;
  const { clock, renewal, lease, beat, renewed } = setUp(() => new Promise((resolve) => (answer = resolve)));
  await beat(2);
  const extended = renewal.extend(lease, 9000);
  await clock.advance(0);
  expect(renewed.map(([, leaseMs]) => leaseMs)).toEqual([6000]);
  answer(true);
  await clock.advance(0);
  expect(renewed.map(([, leaseMs]) => leaseMs)).toEqual([6000, 9000]);
  answer(true);
  await extended;
});
