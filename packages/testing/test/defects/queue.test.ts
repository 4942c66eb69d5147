import { createMemoryQueue } from '@questline/core/memory';
import type { Clock, JobQueue, LeasedJob } from '@questline/core/ports';
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

/** The current lease of a job, whatever an earlier worker holds. */
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
    'leases one job to two parallel workers',
    [
      'gives a job to one of 50 parallel workers',
      'never leases one job to two parallel workers, and leases all jobs',
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
  defect('lets a worker finish a job it has lost', ['ignores a worker that lost its lease'], (sound) => {
    const { of, lease } = newest(sound);
    return { lease, finish: (job) => sound.finish(of(job)) };
  }),
  defect('lets a worker renew a job it has lost', ['ignores a worker that lost its lease'], (sound) => {
    const { of, lease } = newest(sound);
    return { lease, renew: (job, leaseMs) => sound.renew(of(job), leaseMs) };
  }),
  defect('lets a worker return a job twice', ['ignores a worker after it returned the job'], (sound) => ({
    retry: async (job, back) => (await sound.retry(job, back)) || true,
  })),
  defect(
    'loses the job of a vanished worker',
    [
      'leases a job again under a greater fence after its lease expired',
      'returns an unfinished job however often its workers vanish',
    ],
    (sound) => ({
      async lease(want) {
        const jobs = await sound.lease(want);
        for (const job of jobs) if (job.attempt > 1) await sound.finish(job);
        return jobs.filter(({ attempt }) => attempt === 1);
      },
    }),
  ),
  defect('forgets to count attempts', ['runs a returned job at its time as another attempt'], (sound) => ({
    retry: (job, back) => sound.retry(job, { ...back, countAttempt: false }),
  })),
  defect('counts every attempt', ['runs a job returned uncounted as the same attempt'], (sound) => ({
    retry: (job, back) => sound.retry(job, { ...back, countAttempt: true }),
  })),
  defect(
    'uses one lease time for every kind',
    ['uses the lease time of a kind, and the default for the others'],
    (sound) => ({
      lease: ({ kinds, limit, leaseMs }, options) => sound.lease({ kinds, limit, leaseMs }, options),
    }),
  ),
  defect('reports a renewal without making it', ['keeps a renewed lease'], () => ({
    renew: async () => true,
  })),
  defect(
    'leases a delayed job at once',
    ['leases a delayed job at its time', 'leases a delayed job to the millisecond'],
    (sound, clock) => ({
      enqueue: (job) => sound.enqueue({ ...job, runAt: Math.min(job.runAt ?? clock.now(), clock.now()) }),
    }),
  ),
  defect('keeps no order', ['leases the oldest due jobs first, up to the limit'], (sound, clock) => ({
    enqueue: (job) =>
      sound.enqueue(job.runAt === undefined || job.runAt > clock.now() ? job : { ...job, runAt: -job.runAt }),
  })),
  defect(
    'forgets a key once its job is leased',
    ['accepts a key once while its job waits or is leased'],
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
  defect('looks for the key before it adds', ['adds one job in 50 parallel enqueues of one key'], (sound) => {
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
  defect(
    'serves the first owner it meets',
    [
      'serves every waiting owner in one claim, however many jobs another has in front',
      'serves each owner once before any owner twice, over many claims',
      'alternates jobs without an owner with those of owners',
    ],
    (sound) => {
      const owners = new Map<string, string>();
      return {
        enqueue({ owner, ...job }) {
          if (owner !== undefined) owners.set(job.key, owner);
          return sound.enqueue(job);
        },
        lease: async (want) =>
          (await sound.lease(want)).map((job) => {
            const owner = owners.get(job.key);
            return owner === undefined ? job : { ...job, owner };
          }),
      };
    },
  ),
  defect(
    'starts every claim with the same owner',
    ['serves each owner once before any owner twice, over many claims'],
    (sound, clock) => ({
      // Returns the jobs of others, so that each claim sees the first owner's jobs first.
      async lease(want) {
        const jobs = await sound.lease({ ...want, limit: 1000 });
        const inOrder = [...jobs].sort((a, b) => Number(b.owner === 'hog') - Number(a.owner === 'hog'));
        for (const job of inOrder.slice(want.limit)) {
          await sound.retry(job, { runAt: clock.now(), countAttempt: false });
        }
        return inOrder.slice(0, want.limit);
      },
    }),
  ),
  defect(
    'ignores the limits of kinds',
    ['leases at most the limit of a kind, with and without owners'],
    (sound) => ({ lease: ({ limitByKind: _, ...want }, options) => sound.lease(want, options) }),
  ),
  defect(
    'ignores the limits of owners',
    [
      'leases an owner at most its limit, less the jobs it holds',
      'applies a limit to its own kind only',
      'does not hide jobs of others behind an owner at its limit',
    ],
    (sound) => ({ lease: ({ perOwner: _, ...want }, options) => sound.lease(want, options) }),
  ),
  defect(
    'forgets the jobs that owners hold',
    ['leases an owner at most its limit, less the jobs it holds'],
    (sound) => ({
      lease: ({ perOwner = {}, ...want }) => {
        const forgotten = Object.entries(perOwner).map(([kind, { max }]) => [kind, { max, held: new Map() }]);
        return sound.lease({ ...want, perOwner: Object.fromEntries(forgotten) });
      },
    }),
  ),
  defect(
    'forgets the owner of a job',
    ['keeps the owner of a job when it is returned and when its lease expires'],
    (sound) => ({
      lease: async (want) =>
        (await sound.lease(want)).map(({ owner, ...job }) =>
          job.attempt === 1 && owner !== undefined ? { ...job, owner } : job,
        ),
    }),
  ),
]);
