import type { LeaseWanted } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { openShards } from './shards-memory.ts';

/** Two databases with jobs of their owners. */
async function setUp(jobs: Readonly<Record<string, number>>) {
  const asked: string[] = [];
  const { ports } = openShards({}, ({ queue }, name) => ({
    queue: {
      ...queue,
      lease(...args) {
        asked.push(name);
        return queue.lease(...args);
      },
    },
  }));
  const { queue } = ports;
  for (const [owner, count] of Object.entries(jobs)) {
    for (let at = 0; at < count; at += 1) {
      await queue.enqueue({ kind: 'work', key: `${owner} ${at}`, owner, payload: null });
    }
  }
  const lease = (limit: number, more: Partial<LeaseWanted> = {}) =>
    queue.lease({ kinds: ['work'], limit, leaseMs: 60_000, ...more });
  /** How many jobs of each owner are leased. */
  const count = async (...args: Parameters<typeof lease>) => {
    const counts: Record<string, number> = {};
    for (const { owner = '' } of await lease(...args)) counts[owner] = (counts[owner] ?? 0) + 1;
    return counts;
  };
  return { asked, queue, lease, count };
}

describe('the jobs of a lease from several databases', () => {
  it.each<[string, number, Partial<LeaseWanted>, Record<string, number>]>([
    ['a limit of one each', 2, {}, { a1: 1, b1: 1 }],
    ['the limit', 4, {}, { a1: 2, b1: 2 }],
    ['the limit of the kind', 10, { limitByKind: { work: 4 } }, { a1: 2, b1: 2 }],
    ['a limit above that of the kind', 5, { limitByKind: { work: 4 } }, { a1: 2, b1: 2 }],
    ['a limit below that of the kind', 4, { limitByKind: { work: 9 } }, { a1: 2, b1: 2 }],
  ])('are as many of each owner within %s', async (_, limit, more, expected) => {
    const { count } = await setUp({ a1: 9, b1: 9 });
    expect(await count(limit, more)).toEqual(expected);
  });

  it('are all of one owner within the limit of the kind', async () => {
    const { count } = await setUp({ a1: 9 });
    expect(await count(10, { limitByKind: { work: 2 } })).toEqual({ a1: 2 });
  });

  it('are no more than the limit, whichever database is asked first', async () => {
    const { lease } = await setUp({ a1: 5, a2: 5, a3: 5, b1: 5, b2: 5, b3: 5 });
    for (let time = 0; time < 4; time += 1) expect(await lease(4)).toHaveLength(4);
  });

  it('are no more of an owner than is allowed, after a lease of the same owner', async () => {
    const { lease, count, queue } = await setUp({ a1: 9 });
    for (const job of await lease(1)) await queue.finish(job);
    expect(await count(9, { perOwner: { work: { max: 2, held: new Map() } } })).toEqual({ a1: 2 });
  });

  it('are asked of each database once if there are none', async () => {
    const { asked, lease } = await setUp({});
    expect(await lease(5)).toEqual([]);
    expect(asked.toSorted()).toEqual(['a', 'b', 'home']);
  });

  it('are asked of each database once if the kind with jobs reaches its limit', async () => {
    const { asked, lease } = await setUp({ a1: 1, b1: 1 });
    const limitByKind = { work: 2 };
    expect(await lease(5, { kinds: ['work', 'other'], limitByKind })).toHaveLength(2);
    expect(asked.toSorted()).toEqual(['a', 'b', 'home']);
  });
});
