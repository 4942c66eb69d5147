import type { JobQueue, LeasedJob, OwnerLimit } from '@questline/core/ports';
import { expect } from 'vitest';
import { inParallel } from '../parallel.ts';
import { allQueues, expectCounts, KIND, LONG, lease, mustLease, type QueueCase, toJob } from './subject.ts';

const getOwners = (jobs: readonly LeasedJob[]) => jobs.map(({ owner }) => owner);

/** Numbers of jobs of two kinds in one claim. */
const TURNS: readonly (readonly [number, number])[] = [
  ...([
    [2, 1],
    [3, 4],
    [1, 2],
    [4, 3],
    [5, 1],
    [1, 5],
    [2, 2],
    [6, 3],
    [1, 1],
    [3, 6],
    [2, 4],
    [8, 9],
  ] as const),
  ...([
    [9, 8],
    [1, 2],
    [5, 4],
    [2, 3],
    [4, 1],
  ] as const),
];

/** Enqueues `count` jobs of one owner, or without an owner. */
async function enqueueMany(
  queue: JobQueue,
  owner: string | undefined,
  count: number,
  runAt?: number,
): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    await queue.enqueue(
      toJob(`${owner ?? 'none'} ${at}`, {
        ...(owner !== undefined && { owner }),
        ...(runAt !== undefined && { runAt: runAt + at }),
      }),
    );
  }
}

function leaseLimited(
  { queue, time }: Parameters<QueueCase['run']>[0],
  limit: number,
  max: number,
  held: Readonly<Record<string, number>> = {},
): Promise<readonly LeasedJob[]> {
  const perOwner: Record<string, OwnerLimit> = { [KIND]: { max, held: new Map(Object.entries(held)) } };
  return queue.lease({ kinds: [KIND], limit, leaseMs: LONG * time.unit, perOwner });
}

export const ownerCases: readonly QueueCase[] = [
  {
    name: 'serves every waiting owner in one claim, however many jobs another has in front',
    section: 'behaviour',
    async run(subject) {
      const { queue, time } = subject;
      await enqueueMany(queue, 'hog', 30, time.now() - 100);
      for (const owner of ['a', 'b', 'z', '\u{1f30d} "\'%_\\']) await enqueueMany(queue, owner, 1);
      const jobs = await lease(subject, queue, 8);
      expect(jobs).toHaveLength(8);
      expect(new Set(getOwners(jobs))).toEqual(new Set(['hog', 'a', 'b', 'z', '\u{1f30d} "\'%_\\']));
    },
  },
  {
    name: 'serves each owner once before any owner twice, over many claims',
    section: 'behaviour',
    async run(subject) {
      const { queue, time } = subject;
      await enqueueMany(queue, 'hog', 12, time.now() - 100);
      for (const owner of ['a', 'm', 'z']) await enqueueMany(queue, owner, 2);
      for (let round = 0; round < 2; round += 1) {
        const owners = [];
        for (let claim = 0; claim < 4; claim += 1) owners.push(...getOwners(await lease(subject, queue)));
        expect(owners.sort()).toEqual(['a', 'hog', 'm', 'z']);
      }
      expect(getOwners(await lease(subject, queue, 100))).toEqual(Array(10).fill('hog'));
    },
  },
  {
    name: 'alternates jobs without an owner with those of owners',
    section: 'behaviour',
    async run(subject) {
      const { queue, time } = subject;
      await enqueueMany(queue, 'hog', 10, time.now() - 100);
      await enqueueMany(queue, undefined, 10);
      const owners = getOwners(await lease(subject, queue, 4));
      expect(owners.filter((owner) => owner === undefined)).toHaveLength(2);
    },
  },
  {
    name: 'leases the jobs of one owner oldest first',
    section: 'behaviour',
    async run(subject) {
      const { queue, time } = subject;
      const ago = (units: number) => ({ owner: 'a', runAt: time.now() - units * time.unit });
      await queue.enqueue(toJob('second', ago(2)));
      await queue.enqueue(toJob('first', ago(3)));
      await queue.enqueue(toJob('third', ago(1)));
      const keys = [];
      for (let claim = 0; claim < 3; claim += 1) keys.push((await mustLease(subject)).key);
      expect(keys).toEqual(['first', 'second', 'third']);
    },
  },
  {
    name: 'keeps the owner of a job when it is returned and when its lease expires',
    section: 'behaviour',
    async run(subject) {
      const { queue, time } = subject;
      await enqueueMany(queue, 'a', 1);
      const first = await mustLease(subject);
      expect(first.owner).toBe('a');
      expect(await queue.retry(first, { runAt: time.now(), countAttempt: true })).toBe(true);
      expect(await mustLease(subject, 1)).toMatchObject({ owner: 'a', attempt: 2 });
      await time.advance(1.5 * time.unit);
      await expectCounts(subject, 1, 0, 0);
      const third = await mustLease(subject);
      expect(third).toMatchObject({ owner: 'a', attempt: 3 });
      expect(await queue.renew(third, time.unit)).toBe(true);
      await time.advance(1.5 * time.unit);
      const fourth = await mustLease(subject);
      expect(fourth).toMatchObject({ owner: 'a', attempt: 4 });
      expect(await queue.finish(fourth)).toBe(true);
      await expectCounts(subject, 0, 0, 0);
      expect((await queue.enqueue(toJob('a 0', { owner: 'a' }))).added).toBe(true);
    },
  },
  {
    name: 'leases a delayed job of an owner at its time',
    section: 'behaviour',
    async run(subject) {
      const { queue, time } = subject;
      await queue.enqueue(toJob('later', { owner: 'a', runAt: time.now() + 4 * time.unit }));
      expect(await lease(subject, queue, 10)).toEqual([]);
      await expectCounts(subject, 0, 1, 0);
      await time.advance(4.5 * time.unit);
      expect((await mustLease(subject)).key).toBe('later');
    },
  },
  {
    name: 'leases an owner at most its limit, less the jobs it holds',
    section: 'behaviour',
    async run(subject) {
      const { queue, time } = subject;
      await enqueueMany(queue, 'hog', 10, time.now() - 100);
      await enqueueMany(queue, 'a', 2);
      await enqueueMany(queue, undefined, 6);
      const count = (jobs: readonly LeasedJob[], owner: string | undefined) =>
        getOwners(jobs).filter((one) => one === owner).length;
      const first = await leaseLimited(subject, 6, 3, { hog: 1 });
      expect([first.length, count(first, 'hog'), count(first, 'a')]).toEqual([6, 2, 2]);
      const second = await leaseLimited(subject, 100, 3, { hog: 3, a: 2 });
      expect([second.length, count(second, 'hog'), count(second, undefined)]).toEqual([4, 0, 4]);
      expect(await leaseLimited(subject, 100, 3, { hog: 3 })).toEqual([]);
      await expectCounts(subject, 8, 0, 10);
      expect(await leaseLimited(subject, 100, 3)).toHaveLength(3);
    },
  },
  {
    name: 'applies a limit to its own kind only',
    section: 'behaviour',
    async run({ queue, time }) {
      for (const kind of ['a', 'b']) {
        for (let at = 0; at < 3; at += 1) await queue.enqueue(toJob(`${kind} ${at}`, { kind, owner: 'hog' }));
      }
      const perOwner = { a: { max: 1, held: new Map<string, number>() } };
      const want = { kinds: ['a', 'b'], limit: 10, leaseMs: LONG * time.unit, perOwner };
      const kinds = (await queue.lease(want)).map(({ kind }) => kind).sort();
      expect(kinds).toEqual(['a', 'b', 'b', 'b']);
    },
  },
  {
    name: 'leases at most the limit of a kind, with and without owners',
    section: 'behaviour',
    async run({ queue, time }) {
      for (const kind of ['a', 'b', 'c']) {
        for (let at = 0; at < 4; at += 1) {
          const owner = ['hog', 'hog', 'other', undefined][at];
          const runAt = time.now() - 100 + at;
          await queue.enqueue(toJob(`${kind} ${at}`, { kind, runAt, ...(owner !== undefined && { owner }) }));
        }
      }
      const want = { kinds: ['a', 'b', 'c'], leaseMs: LONG * time.unit };
      const take = async (limit: number, limitByKind: Readonly<Record<string, number>>) =>
        (await queue.lease({ ...want, limit, limitByKind })).map(({ kind }) => kind).sort();
      expect(await take(10, { a: 1, b: 0 })).toEqual(['a', 'c', 'c', 'c', 'c']);
      expect(await take(10, { a: 2, b: 3, c: 5 })).toEqual(['a', 'a', 'b', 'b', 'b']);
      expect(await take(1, { a: 9, b: 9 })).toHaveLength(1);
      expect(await take(10, {})).toHaveLength(1);
    },
  },
  {
    name: 'does not hide jobs of others behind an owner at its limit',
    section: 'behaviour',
    async run(subject) {
      const { queue } = subject;
      await inParallel(150, [queue], (one, at) => one.enqueue(toJob(`hog ${at}`, { owner: 'hog' })));
      await enqueueMany(queue, 'z', 1);
      const jobs = await leaseLimited(subject, 1, 5, { hog: 5 });
      expect(getOwners(jobs)).toEqual(['z']);
    },
  },
  {
    name: 'serves owners in turn in claims of any size, for each kind of its own',
    section: 'behaviour',
    async run({ queue, time }) {
      const owners = ['a', 'B', 'z', '~', '\uff5e', '\u{1f30d}', undefined];
      const kinds = ['x', 'y'];
      for (const kind of kinds) {
        for (const [place, owner] of owners.entries()) {
          for (let at = 0; at < 9; at += 1) {
            // The oldest jobs are those of one owner.
            const runAt = time.now() - 1000 + 10 * place + at;
            const key = `${kind} ${owner ?? 'none'} ${at}`;
            await queue.enqueue(toJob(key, { kind, runAt, ...(owner !== undefined && { owner }) }));
          }
        }
      }
      const served = new Map(kinds.map((kind) => [kind, new Map(owners.map((owner) => [owner, 0]))]));
      for (const [x, y] of TURNS) {
        const limitByKind = { x, y };
        const jobs = await queue.lease({ kinds, limit: x + y, leaseMs: LONG * time.unit, limitByKind });
        expect(jobs.filter(({ kind }) => kind === 'x')).toHaveLength(x);
        expect(jobs.filter(({ kind }) => kind === 'y')).toHaveLength(y);
        for (const { kind, owner } of jobs) {
          const counts = served.get(kind);
          counts?.set(owner, (counts.get(owner) ?? 0) + 1);
        }
        for (const counts of served.values()) {
          const numbers = [...counts.values()];
          expect(Math.max(...numbers) - Math.min(...numbers)).toBeLessThanOrEqual(1);
        }
      }
    },
  },
  {
    name: 'leases up to the limits of a claim, a kind and an owner when owners have unequal numbers of jobs',
    section: 'behaviour',
    async run({ queue, time }) {
      const kinds = ['x', 'y'];
      for (const kind of kinds) {
        for (let at = 0; at < 20; at += 1) {
          const owner = at < 4 ? `owner ${at}` : 'hog';
          await queue.enqueue(toJob(`${kind} ${at}`, { kind, owner }));
        }
      }
      const take = async (limit: number, limitByKind?: Readonly<Record<string, number>>, max?: number) => {
        const perOwner = Object.fromEntries(
          kinds.map((kind) => [kind, { max: max ?? 0, held: new Map([['another', 1]]) }]),
        );
        const jobs = await queue.lease({
          ...{ kinds, limit, leaseMs: LONG * time.unit },
          ...(limitByKind !== undefined && { limitByKind }),
          ...(max !== undefined && { perOwner }),
        });
        return kinds.map((kind) => jobs.filter((job) => job.kind === kind).length);
      };
      // Four owners have one job, and the other one has no more than its limit.
      expect(await take(100, { x: 9 }, 3)).toEqual([7, 7]);
      expect(await take(100, { x: 6, y: 5 }, 9)).toEqual([6, 5]);
      const [x = 0, y = 0] = await take(9);
      expect(x + y).toBe(9);
    },
  },
  {
    name: 'leases the jobs of many owners once each to parallel workers, and all of them',
    section: 'race',
    async run(subject) {
      await inParallel(60, allQueues(subject), (queue, at) =>
        queue.enqueue(toJob(`job ${at}`, { owner: `owner ${at % 7}` })),
      );
      const taken = (await inParallel(20, allQueues(subject), (queue) => lease(subject, queue, 4))).flat();
      const rest = await lease(subject, subject.queue, 60);
      const keys = [...taken, ...rest].map(({ key }) => key);
      expect(keys).toHaveLength(60);
      expect(new Set(keys).size).toBe(60);
    },
  },
];
