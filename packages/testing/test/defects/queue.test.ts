import type { Clock, JobQueue, LeasedJob } from '@questline/core';
import { createMemoryQueue } from '@questline/core/memory';
import { createFakeClock, createFakeIds, fakeTime, type QueueSubject, queueCases } from '@questline/testing';
import { type Defect, defectTests, gap } from './red.ts';

function defect(
  name: string,
  red: readonly string[],
  spoil: (sound: JobQueue, clock: Clock) => Partial<JobQueue>,
): Defect<QueueSubject> {
  return {
    name,
    red,
    create: async () => {
      const clock = createFakeClock();
      const sound = createMemoryQueue({ clock, ids: createFakeIds() });
      return { queue: { ...sound, ...spoil(sound, clock) }, time: fakeTime(clock) };
    },
  };
}

/** The lease that counts for a job, whichever an earlier worker holds. */
function newest(sound: JobQueue) {
  const leases = new Map<string, LeasedJob>();
  return {
    of: (job: LeasedJob) => leases.get(job.id) ?? job,
    lease: async (...given: Parameters<JobQueue['lease']>) => {
      const jobs = await sound.lease(...given);
      for (const job of jobs) leases.set(job.id, job);
      return jobs;
    },
  };
}

defectTests('queue', queueCases, [
  defect(
    'hands one job to two workers who ask at once',
    [
      'of 50 parallel workers, one gets the job',
      'no two parallel workers hold one job, and together they get all',
    ],
    (sound) => {
      let asking: ReturnType<JobQueue['lease']> | undefined;
      return {
        async lease(want) {
          asking ??= gap().then(() => sound.lease(want));
          const jobs = await asking;
          asking = undefined;
          return jobs;
        },
      };
    },
  ),
  defect(
    'lets a worker finish what it has lost',
    ['who lost the lease changes nothing any more'],
    (sound) => {
      const { of, lease } = newest(sound);
      return { lease, finish: (job) => sound.finish(of(job)) };
    },
  ),
  defect('lets a worker renew what it has lost', ['who lost the lease changes nothing any more'], (sound) => {
    const { of, lease } = newest(sound);
    return { lease, renew: (job, leaseMs) => sound.renew(of(job), leaseMs) };
  }),
  defect(
    'lets a worker give back what it has given back',
    ['who has given a job back has no say in it any more'],
    (sound) => ({ retry: async (job, back) => (await sound.retry(job, back)) || true }),
  ),
  defect(
    'loses the job of a worker that vanished',
    [
      'a job whose lease ran out is handed out again, under a greater fence',
      'an unfinished job comes back however often its workers vanish',
    ],
    (sound) => ({
      async lease(want) {
        const jobs = await sound.lease(want);
        for (const job of jobs) if (job.attempt > 1) await sound.finish(job);
        return jobs.filter(({ attempt }) => attempt === 1);
      },
    }),
  ),
  defect(
    'forgets to count attempts',
    ['a job given back runs again at its time, as another attempt'],
    (sound) => ({
      retry: (job, back) => sound.retry(job, { ...back, countAttempt: false }),
    }),
  ),
  defect('counts every attempt', ['a job given back uncounted runs again as the same attempt'], (sound) => ({
    retry: (job, back) => sound.retry(job, { ...back, countAttempt: true }),
  })),
  defect(
    'leases jobs of every kind for as long',
    ['jobs of a kind with a lease of its own come back after that, and others in their time'],
    (sound) => ({
      lease: ({ kinds, limit, leaseMs }, options) => sound.lease({ kinds, limit, leaseMs }, options),
    }),
  ),
  defect('only says that it renewed', ['a renewed lease lasts'], () => ({ renew: async () => true })),
  defect(
    'hands a delayed job out at once',
    ['a delayed job is due at its time', 'a delayed job is due to the millisecond'],
    (sound, clock) => ({
      enqueue: (job) => sound.enqueue({ ...job, runAt: Math.min(job.runAt ?? clock.now(), clock.now()) }),
    }),
  ),
  defect('keeps no order', ['the oldest due job comes first, up to the limit asked'], (sound, clock) => ({
    enqueue: (job) =>
      sound.enqueue(job.runAt === undefined || job.runAt > clock.now() ? job : { ...job, runAt: -job.runAt }),
  })),
  defect(
    'forgets a key once its job is leased',
    ['a key is there once while its job waits or is leased'],
    (sound) => {
      const leased = new Map<string, number>();
      return {
        enqueue: (job) => sound.enqueue({ ...job, key: `${job.key}#${leased.get(job.key) ?? 0}` }),
        async lease(want) {
          const jobs = (await sound.lease(want)).map((job) => ({ ...job, key: job.key.split('#')[0] ?? '' }));
          for (const { key } of jobs) leased.set(key, (leased.get(key) ?? 0) + 1);
          return jobs;
        },
      };
    },
  ),
  defect('looks for the key before it adds', ['of 50 parallel enqueues of one key, one adds'], (sound) => {
    const known = new Set<string>();
    let calls = 0;
    return {
      async enqueue(job) {
        if (known.has(job.key)) return sound.enqueue(job);
        await gap();
        known.add(job.key);
        calls += 1;
        return sound.enqueue({ ...job, key: `${job.key}#${calls}` });
      },
    };
  }),
]);
