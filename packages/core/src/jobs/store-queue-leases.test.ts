import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../memory/store.ts';
import type { LeaseWanted, NewJob } from '../ports/queue.ts';
import type { Collection, Store } from '../ports/store.ts';
import { createStoreQueue, JOBS, type JobRecord } from './store-queue.ts';

const LEASE_MS = 1000;

function setUp() {
  const clock = createFakeClock();
  const store = createMemoryStore();
  const jobs = store.collection(JOBS);
  const finds: Parameters<Collection<JobRecord>['find']>[] = [];
  /** Keys of jobs whose next lease another worker prevents. */
  const contested: string[] = [];
  let between = async (): Promise<unknown> => undefined;
  const watched: Collection<JobRecord> = {
    ...jobs,
    find(...given) {
      finds.push(given);
      return jobs.find(...given);
    },
    async update(id, ...given) {
      await between();
      const at = contested.indexOf((await jobs.get(id))?.key ?? '');
      if (at === -1) return jobs.update(id, ...given);
      contested.splice(at, 1);
      return undefined;
    },
  };
  const open = (where: Store, seed: number) =>
    createStoreQueue({ store: where, clock, ids: createFakeIds(seed) });
  const queue = open({ ...store, collection: () => watched as never }, 1);
  const peer = open(store, 2);
  /** Enqueues jobs as `<owner><number>`; the number is the age in milliseconds. */
  const add = async (text: string, more: Partial<NewJob> = {}) => {
    for (const key of text.split(' ')) {
      const owner = key.replace(/-?\d+$/, '');
      const runAt = clock.now() - Number(key.slice(owner.length));
      await peer.enqueue({
        kind: 'work',
        payload: null,
        key,
        runAt,
        ...(owner !== '' && { owner }),
        ...more,
      });
    }
  };
  const lease = async (limit: number, more: Partial<LeaseWanted> = {}) => {
    const leased = await queue.lease({ kinds: ['work'], limit, leaseMs: LEASE_MS, ...more });
    return leased.map(({ key }) => key).join(' ');
  };
  /** Runs work of another process before the next write of the queue. */
  const meanwhile = (work: () => Promise<unknown>): void => {
    between = () => {
      between = async () => undefined;
      return work();
    };
  };
  const leaseByPeer = () => peer.lease({ kinds: ['work'], limit: 1, leaseMs: LEASE_MS });
  return { clock, store, jobs, queue, peer, add, lease, finds, contested, meanwhile, leaseByPeer };
}

/** Keys of an owner with these ages. */
const toKeys = (owner: string, from: number, count: number): string =>
  Array.from({ length: count }, (_, at) => `${owner}${from + at}`).join(' ');

describe('a record of a job', () => {
  it('begins without a lease, and has none after a retry', async () => {
    const { clock, queue, jobs } = setUp();
    const { id } = await queue.enqueue({ kind: 'work', payload: { a: 1 }, key: 'k', owner: 'ada' });
    const record = {
      ...{ id, kind: 'work', payload: { a: 1 }, key: 'k', owner: 'ada', runAt: clock.now() },
      ...{ attempt: 0, fence: 0, holder: 0, leaseUntil: 0 },
    };
    expect(await jobs.get(id)).toEqual(record);
    const [leased] = await queue.lease({ kinds: ['work'], limit: 1, leaseMs: LEASE_MS });
    if (leased === undefined) throw new Error('not leased');
    const runAt = clock.now() + 5000;
    await queue.retry(leased, { runAt, countAttempt: true });
    expect(await jobs.get(id)).toEqual({ ...record, runAt, attempt: 1, fence: 1 });
  });

  it('is found by its key', async () => {
    const { queue } = setUp();
    const enqueue = (key: string) => queue.enqueue({ kind: 'work', payload: null, key });
    const ids = [await enqueue('a'), await enqueue('b')].map(({ id }) => id);
    expect(await enqueue('b')).toEqual({ id: ids[1], added: false });
    expect(await enqueue('a')).toEqual({ id: ids[0], added: false });
  });

  it('wakes workers when a retry is due', async () => {
    const { clock, queue, peer, add } = setUp();
    await add('a1 b1');
    const [job] = await queue.lease({ kinds: ['work'], limit: 1, leaseMs: 100 });
    if (job === undefined) throw new Error('not leased');
    const heard: number[] = [];
    const begun = clock.now();
    queue.onReady(() => void heard.push(clock.now() - begun));
    await clock.advance(50);
    expect(await queue.retry(job, { runAt: begun + 500, countAttempt: true })).toBe(true);
    expect(await queue.retry(job, { runAt: begun + 300, countAttempt: true })).toBe(false);
    await clock.advance(1000);
    // 100: the end of the lease.
    expect(heard).toEqual([100, 500]);
    expect(await peer.counts()).toEqual({ ready: 2, delayed: 0, leased: 0 });
  });

  it('that a process with a fast clock holds is counted once', async () => {
    const { store, queue, add } = setUp();
    await add('-5000');
    const clock = createFakeClock();
    await clock.advance(6000);
    const fast = createStoreQueue({ store, clock, ids: createFakeIds(3) });
    expect(await fast.lease({ kinds: ['work'], limit: 1, leaseMs: LEASE_MS })).toHaveLength(1);
    expect(await queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 1 });
  });
});

describe('between the look and the lease another process may', () => {
  it('lease and return the job, which then has a greater fence', async () => {
    const { clock, queue, peer, add, meanwhile, leaseByPeer } = setUp();
    await add('a1');
    meanwhile(async () => {
      const [job] = await leaseByPeer();
      if (job !== undefined) await peer.retry(job, { runAt: clock.now(), countAttempt: true });
    });
    const leased = await queue.lease({ kinds: ['work'], limit: 1, leaseMs: LEASE_MS });
    expect(leased).toMatchObject([{ key: 'a1', fence: 2, attempt: 2 }]);
  });

  it.each(['retry', 'renew'] as const)('%s the job, whose lease has expired', async (name) => {
    const { clock, peer, add, lease, meanwhile, leaseByPeer } = setUp();
    await add('a1');
    const [job] = await leaseByPeer();
    if (job === undefined) throw new Error('not leased');
    await clock.advance(2 * LEASE_MS);
    const runAt = clock.now() + 1;
    meanwhile(() => (name === 'renew' ? peer.renew(job, 1) : peer.retry(job, { runAt, countAttempt: true })));
    expect(await lease(1)).toBe('');
    await clock.advance(1);
    expect(await lease(1)).toBe('a1');
  });
});

describe('a lease that loses jobs to other workers', () => {
  it('looks up to four times', async () => {
    const { add, lease, finds, contested } = setUp();
    await add('a1');
    contested.push(...Array(5).fill('a1'));
    expect(await lease(1)).toBe('');
    expect([finds.length, contested.length]).toEqual([4, 1]);
    contested.length = 0;
    finds.length = 0;
    expect(await lease(2)).toBe('a1');
    expect(finds).toHaveLength(1);
  });

  it('looks no further when it has enough', async () => {
    const { add, lease, finds, contested } = setUp();
    await add('a3 a2 a1');
    contested.push('a3');
    expect(await lease(1, { kinds: ['work', 'other'] })).toBe('a2');
    contested.push('a3');
    expect(await lease(5, { limitByKind: { work: 1 } })).toBe('a1');
    expect(finds).toHaveLength(2);
  });

  it('looks again for the rest, of the kinds with room', async () => {
    const { clock, add, lease, finds, contested } = setUp();
    await add('a9 a8');
    await add('b2 b1', { kind: 'other' });
    contested.push('b2');
    const leased = await lease(3, { kinds: ['work', 'other'], limitByKind: { work: 1 } });
    expect(leased).toBe('a9 b1 b2');
    const due = { runAt: { lte: clock.now() }, leaseUntil: { lte: clock.now() } };
    const order = { field: 'runAt', direction: 'asc' };
    expect(finds).toEqual([
      [
        { ...due, kind: { in: ['work', 'other'] } },
        { order, limit: 11 },
      ],
      [
        { ...due, kind: { in: ['other'] } },
        { order, limit: 9 },
      ],
    ]);
  });

  it.each<[max: number, held: [string, number][], contested: string[], expected: string]>([
    [1, [], ['b8'], 'a9 7 b8'],
    [2, [['a', 1]], ['b8'], 'a9 7 b8'],
    [2, [], ['a6'], 'a9 b8 7 a6'],
    [3, [['a', 1]], ['a6'], 'a9 b8 7 a6'],
  ])('keeps the limit of an owner: %i, with %j', async (max, held, lost, expected) => {
    const { add, lease, contested } = setUp();
    await add('a9 b8 7 a6 a5');
    contested.push(...lost);
    const before = new Map(held);
    expect(await lease(9, { perOwner: { work: { max, held: before } } })).toBe(expected);
    expect([...before]).toEqual(held);
  });
});

describe('a lease among more due jobs than one look reads', () => {
  it('reads as many jobs as it needs of each owner in turn', async () => {
    const { clock, add, queue, finds } = setUp();
    await add(`${toKeys('b', 10, 20)} a2 c1 5`);
    const { signal } = new AbortController();
    const perOwner = { work: { max: 3, held: new Map([['b', 1]]) } };
    const wanted = { kinds: ['work'], leaseMs: LEASE_MS, perOwner };
    const lease = async (limit: number) =>
      (await queue.lease({ ...wanted, limit }, { signal })).map(({ key }) => key).join(' ');
    const due = { runAt: { lte: clock.now() }, leaseUntil: { lte: clock.now() } };
    const byAge = { signal, order: { field: 'runAt', direction: 'asc' } };
    const byOwner = { signal, order: { field: 'owner', direction: 'asc' }, limit: 1 };
    const all = { ...due, kind: { in: ['work'] } };
    const next = (owner: object) => [{ ...due, kind: 'work', owner }, byOwner];
    const lane = (owner: string | null, limit: number) => [
      { ...due, kind: 'work', owner },
      { ...byAge, limit },
    ];
    expect(await lease(2)).toBe('a2 b29');
    const first = [all, { ...byAge, limit: 10 }];
    expect(finds).toEqual([first, next({ gt: '' }), lane('a', 3), next({ gt: 'a' }), lane('b', 2)]);
    finds.length = 0;
    // The last one was b: c follows, then those without an owner, then b again.
    expect(await lease(3)).toBe('c1 5 b28');
    expect(finds).toEqual([
      ...[[all, { ...byAge, limit: 11 }], next({ gt: 'b' }), lane('c', 3), next({ gt: 'c' }), lane(null, 11)],
      ...[next({ gt: '', lte: 'b' }), lane('b', 2)],
    ]);
    finds.length = 0;
    await queue.enqueue({ kind: 'work', payload: null, key: 'b10' }, { signal });
    expect(finds).toEqual([[{ key: 'b10' }, { limit: 1, signal }]]);
  });

  it('goes on with the owners up to the last one', async () => {
    const { clock, add, lease, finds } = setUp();
    await add(`${toKeys('b', 30, 20)} ${toKeys('d', 10, 20)} a5`);
    expect(await lease(1, { limitByKind: { work: 1 } })).toBe('a5');
    expect(await lease(1)).toBe('b49');
    expect(await lease(1)).toBe('d29');
    await add('c1');
    finds.length = 0;
    expect(await lease(4)).toBe('b48 c1 d28 b47');
    const due = { runAt: { lte: clock.now() }, leaseUntil: { lte: clock.now() }, kind: 'work' };
    const ranges = finds.filter(([, options]) => options?.order?.field === 'owner').map(([filter]) => filter);
    expect(ranges).toEqual([
      { ...due, owner: { gt: 'd' } },
      { ...due, owner: { gt: '', lte: 'd' } },
      { ...due, owner: { gt: 'b', lte: 'd' } },
      { ...due, owner: { gt: 'c', lte: 'd' } },
      { ...due, owner: { gt: 'd', lte: 'd' } },
    ]);
  });

  it('takes the oldest of an owner', async () => {
    const { add, lease } = setUp();
    await add(toKeys('a', 1, 20));
    expect(await lease(1)).toBe('a20');
  });

  it('does not see jobs that are due later, leased or of other kinds', async () => {
    const { add, lease, peer } = setUp();
    await add(toKeys('a-', 1, 20));
    await add('z1');
    expect(await lease(1)).toBe('z1');
    await add(toKeys('a', 100, 12));
    await peer.lease({ kinds: ['work'], limit: 12, leaseMs: LEASE_MS });
    await add(toKeys('a', 200, 12), { kind: 'other' });
    await add(toKeys('a', 10, 12));
    expect(await lease(1)).toBe('a21');
  });

  it('has no limit for jobs without an owner', async () => {
    const { add, lease, finds } = setUp();
    await add(toKeys('', 1, 20));
    const perOwner = { work: { max: 1, held: new Map([['', 1]]) } };
    expect(await lease(3, { perOwner })).toBe('20 19 18');
    // All due jobs, the first owner, and the jobs without one.
    expect(finds).toHaveLength(3);
  });

  it('of 1,000 jobs reads 1,000 at once', async () => {
    const { add, lease, finds } = setUp();
    await add('a1');
    expect(await lease(1000)).toBe('a1');
    expect(finds.map(([, options]) => options?.limit)).toEqual([1000]);
  });
});
