import type { JobQueue, LeasedJob, LeaseWanted } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { REDIS_URL } from '../../../test/support/redis-server.ts';
import { LEASE_MS, shareConnection } from './opened.ts';

const NONE = new Map<string, number>();

const getOwners = (jobs: readonly LeasedJob[]) => jobs.map(({ owner }) => owner);
const getKinds = (jobs: readonly LeasedJob[]) => jobs.map(({ kind }) => kind);
const take = (queue: JobQueue, want: Partial<LeaseWanted>) =>
  queue.lease({ kinds: ['work'], limit: 9, leaseMs: LEASE_MS, ...want });

describe.skipIf(REDIS_URL === undefined)('turns on BullMQ', () => {
  const open = shareConnection();

  it('are those of owners, within a call and over calls', async () => {
    const { addAll, lease } = open();
    for (const owner of ['ada', 'grace', 'zoe']) await addAll(owner, 3);
    expect(getOwners(await lease(4))).toEqual(['ada', 'grace', 'zoe', 'ada']);
    expect(getOwners(await lease(2)).sort()).toEqual(['grace', 'zoe']);
    expect(getOwners(await lease(9))).toHaveLength(3);
    expect(await lease(9)).toEqual([]);
  });

  it('are those of kinds, over calls', async () => {
    const { queue, addAll } = open();
    await addAll('ada', 4, 'a');
    await addAll('ada', 4, 'b');
    const kinds = ['a', 'b'];
    const taken: string[] = [];
    // Calls without a kind or without room take no turn.
    expect(await take(queue, { kinds: [] })).toEqual([]);
    expect(await take(queue, { kinds, limit: 0 })).toEqual([]);
    for (let call = 0; call < 4; call += 1) taken.push(...getKinds(await take(queue, { kinds, limit: 1 })));
    expect(taken).toEqual(taken[0] === 'a' ? ['a', 'b', 'a', 'b'] : ['b', 'a', 'b', 'a']);
    expect(getKinds(await take(queue, { kinds: ['a', 'a'], limit: 9 }))).toEqual(['a', 'a']);
  });

  it('end at the limit of the call', async () => {
    const { queue, addAll, lease } = open();
    for (const owner of ['ada', 'grace', 'zoe']) await addAll(owner, 2);
    for (const limit of [1, 2, 3]) expect(await lease(limit)).toHaveLength(limit);
    expect(await queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 6 });
  });

  it('go on behind owners whose jobs were removed with a tool', async () => {
    const { addAll, lease, openTool } = open();
    for (const owner of ['ada', 'grace', 'zoe']) await addAll(owner, 1);
    for (const owner of ['ada', 'grace']) await openTool(owner).obliterate({ force: true });
    expect(getOwners(await lease(1))).toEqual(['zoe']);
  });

  it('leave out an owner that has its limit, and find the ones behind it', async () => {
    const { queue, addAll } = open();
    for (const owner of ['ada', 'grace', 'zoe']) await addAll(owner, 3);
    const held = new Map([
      ['ada', 2],
      ['grace', 5],
    ]);
    const perOwner = { work: { max: 2, held } };
    expect(getOwners(await take(queue, { limit: 1, perOwner }))).toEqual(['zoe']);
    expect(getOwners(await take(queue, { perOwner: { work: { max: 3, held } } }))).toEqual([
      ...['ada', 'zoe', 'zoe'],
    ]);
    expect(await take(queue, { perOwner: { work: { max: 0, held: NONE } } })).toEqual([]);
  });

  it.each([
    [
      'has its limit, and owners without a job so far',
      { perOwner: { work: { max: 1, held: new Map([['ada', 1]]) } } },
    ],
    ['has room, and its kind has its limit', { limitByKind: { work: 1 } }],
  ])('end where no owner has room: the first one %s', async (_, limits) => {
    const { queue, addAll } = open();
    for (const owner of ['ada', 'grace', 'zoe', 'bob']) await addAll(owner, 2);
    expect(await take(queue, { limit: 1, ...limits })).toHaveLength(1);
    expect(await take(queue, { limit: 2, limitByKind: { work: 1 } })).toHaveLength(1);
    expect(await queue.counts()).toEqual({ ready: 6, delayed: 0, leased: 2 });
  });

  it('leave out a queue that a tool has paused, until it is resumed', async () => {
    const { add, addAll, lease, openTool } = open();
    await addAll('ada', 2);
    const tool = openTool('ada');
    await tool.pause();
    await addAll('grace', 1);
    await add('three', { owner: 'ada' });
    expect(getOwners(await lease())).toEqual(['grace']);
    await tool.resume();
    await expect.poll(async () => getOwners(await lease(1))).toEqual(['ada']);
  });

  it('give an owner its limit in one call, and jobs without an owner have none', async () => {
    const { queue, add, addAll } = open();
    for (const key of ['x', 'y', 'z']) await add(key);
    await addAll('ada', 4);
    const jobs = await take(queue, { perOwner: { work: { max: 2, held: NONE } } });
    expect(getOwners(jobs).sort()).toEqual(['ada', 'ada', undefined, undefined, undefined]);
  });

  it('give a kind its limit in one call', async () => {
    const { queue, addAll } = open();
    for (const kind of ['a', 'b']) {
      await addAll('ada', 3, kind);
      await addAll('zoe', 3, kind);
    }
    const want = { kinds: ['a', 'b'], limit: 9 };
    const limited = await take(queue, { ...want, limitByKind: { a: 2, b: 1 } });
    expect(getKinds(limited).sort()).toEqual(['a', 'a', 'b']);
    expect(getKinds(await take(queue, { ...want, limitByKind: { a: 0 } }))).toEqual(Array(5).fill('b'));
    expect(await take(queue, { ...want, limitByKind: { a: 9 } })).toHaveLength(4);
  });
});
