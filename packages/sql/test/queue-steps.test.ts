import type { JobQueue } from '@questline/core/ports';
import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createSqlQueue, createSqlStore, type SqlDatabase } from '../src/index.ts';
import { ENGINES } from './engines.ts';
import { shareDatabase } from './shared.ts';

const LEASE_MS = 60_000;
/** More than one statement makes ready. */
const MANY = 1001;

const job = (key: string, more: object = {}) => ({ kind: 'work', key, owner: 'ada', payload: null, ...more });

describe.each(ENGINES)('the queue on $name', (engine) => {
  const shared = shareDatabase(engine);
  /** A queue whose statements are named: they make jobs ready (`promote`) or lease them (`claim`). */
  const open = async () => {
    const clock = createFakeClock();
    const database = await shared.fresh();
    const steps: string[] = [];
    const signals: (AbortSignal | undefined)[] = [];
    const recorded: SqlDatabase = {
      ...database,
      run(statement, options) {
        steps.push(statement.sql.trimStart().startsWith('with recursive') ? 'claim' : 'promote');
        signals.push(options?.signal);
        return database.run(statement, options);
      },
    };
    const queue = createSqlQueue(recorded, { clock, ids: createFakeIds() });
    const store = createSqlStore(recorded);
    const add = async (...args: Parameters<JobQueue['enqueue']>) => {
      await queue.enqueue(...args);
      steps.length = 0;
    };
    const lease = async (limit = 9, options?: { signal: AbortSignal }) => {
      steps.length = 0;
      signals.length = 0;
      return queue.lease({ kinds: ['work'], limit, leaseMs: LEASE_MS }, options);
    };
    return { clock, database, queue, store, steps, signals, add, lease };
  };
  const isSqlite = engine.name.startsWith('SQLite');
  /** Leases jobs of an owner who may have `max` at once and has `held`. @returns their number and that of the claims. */
  const leaseWithin = async (max: number | undefined, held: number, waiting: number, owner = 'ada') => {
    const { queue, steps, add } = await open();
    for (let at = 0; at < waiting; at += 1) await add(job(`k${at}`, { owner }));
    const limits = max !== undefined && { perOwner: { work: { max, held: new Map([[owner, held]]) } } };
    const jobs = await queue.lease({ kinds: ['work'], limit: 9, leaseMs: LEASE_MS, ...limits });
    return [jobs.length, steps.filter((step) => step === 'claim').length];
  };

  it.each([
    ['one job of an owner without limit', undefined, 0, 1, [1, 1]],
    ['several jobs of an owner without limit', undefined, 0, 3, [3, 2]],
    ['one job of an owner whose limit allows more', 5, 2, 1, [1, 1]],
    ['several jobs of an owner whose limit allows more', 5, 2, 2, [2, 2]],
    ['all jobs that the limit of their owner allows', 5, 2, 4, [3, 1]],
  ] as const)('does not look for further jobs after %s, if none can be there', async (...row) => {
    const [, max, held, waiting, expected] = row;
    expect(await leaseWithin(max, held, waiting)).toEqual(expected);
  });

  it('looks for further jobs without an owner, whatever the limits', async () => {
    expect(await leaseWithin(2, 2, 3, '')).toEqual([3, 2]);
  });

  it('leases jobs that are due in one statement on PostgreSQL, and in two on SQLite', async () => {
    const { steps, add, lease } = await open();
    await add(job('a'));
    expect(await lease(1)).toHaveLength(1);
    expect(steps).toEqual(isSqlite ? ['promote', 'claim'] : ['claim']);
    expect(await lease(0)).toEqual([]);
    expect(steps.filter((step) => step === 'claim')).toEqual([]);
  });

  it('makes a job ready at its time, first when it is of this process', async () => {
    const { clock, steps, add, lease } = await open();
    await add(job('a', { runAt: clock.now() + 1000 }));
    await clock.advance(999);
    expect(await lease(1)).toEqual([]);
    await clock.advance(1);
    expect(await lease(1)).toHaveLength(1);
    expect(steps).toEqual(['promote', 'claim']);
    await add(job('b'));
    expect(await lease(1)).toHaveLength(1);
    expect(steps).toEqual(isSqlite ? ['promote', 'claim'] : ['claim']);
  });

  it('makes a job ready at its time that a write of a store has added', async () => {
    const { clock, queue, store, steps, lease } = await open();
    const write = queue.writes?.enqueue(job('a', { runAt: clock.now() + 1000 }));
    expect(write && (await store.writeAll?.([write]))).toBe(true);
    const now = queue.writes?.enqueue(job('b'));
    expect(now && (await store.writeAll?.([now]))).toBe(true);
    expect(await lease(1)).toMatchObject([{ key: 'b' }]);
    expect(steps).toEqual(isSqlite ? ['promote', 'claim'] : ['claim']);
    await clock.advance(1000);
    expect(await lease(1)).toMatchObject([{ key: 'a' }]);
    expect(steps).toEqual(['promote', 'claim']);
  });

  it('makes jobs of other processes ready when it finds them', async () => {
    const { clock, database, steps, lease } = await open();
    const other = createSqlQueue(database, { clock, ids: createFakeIds(2) });
    await other.enqueue(job('a', { runAt: clock.now() + 1000 }));
    await clock.advance(1000);
    expect(await lease(1)).toHaveLength(1);
    expect(steps).toEqual(isSqlite ? ['promote', 'claim'] : ['claim', 'promote', 'claim']);
  });

  it('makes jobs ready once in a lease, however many are due', async () => {
    const { clock, database, queue, steps, lease } = await open();
    const numbers = isSqlite
      ? `(with recursive n(g) as (select 1 union all select g + 1 from n where g < ${MANY}) select g from n) n`
      : `generate_series(1, ${MANY}) g`;
    await database.run({
      sql: `insert into ${database.names.table('jobs')}
        (id, key, kind, owner, payload, run_at, due_at, ready, attempt, fence)
        select 'id ' || g, 'key ' || g, 'work', 'ada', 'null', ${clock.now()}, ${clock.now()}, 0, 0, 0 from ${numbers}`,
      parameters: [],
    });
    expect(await lease(5)).toHaveLength(5);
    expect(steps).toEqual(isSqlite ? ['promote', 'claim'] : ['claim', 'promote', 'claim']);
    expect(await queue.counts()).toEqual({ ready: MANY - 5, delayed: 0, leased: 5 });
  });

  it('leases no more for a caller who left, but returns what it has leased', async () => {
    const { signals, add, lease } = await open();
    for (let at = 0; at < 20; at += 1) await add(job(`${at}`, { owner: at < 4 ? `owner ${at}` : 'hog' }));
    const { signal } = new AbortController();
    const leased = await lease(10, { signal });
    expect(leased).toHaveLength(10);
    expect(signals.slice(0, isSqlite ? 2 : 1)).toEqual(isSqlite ? [signal, signal] : [signal]);
    expect(signals.slice(isSqlite ? 2 : 1).every((one) => one === undefined)).toBe(true);
  });

  it('leases jobs of one time in the order in which they were added', async () => {
    const { add, lease } = await open();
    const keys = Array.from({ length: 9 }, (_, at) => `${(at * 5) % 9}`);
    for (const key of keys) await add(job(key));
    expect((await lease()).map(({ key }) => key)).toEqual(keys);
  });

  it('wakes workers when a renewed lease ends and when a returned job is due', async () => {
    const { clock, queue, add, lease } = await open();
    await add(job('a'));
    const [first] = await lease();
    if (first === undefined) throw new Error('no job');
    const calls: number[] = [];
    const start = clock.now();
    const stop = queue.onReady(() => calls.push(clock.now() - start));
    await clock.advance(10_000);
    expect(await queue.renew(first, LEASE_MS)).toBe(true);
    expect(await queue.renew({ ...first, fence: 9 }, 1.5 * LEASE_MS)).toBe(false);
    await clock.advance(LEASE_MS - 1);
    calls.length = 0;
    await clock.advance(1);
    expect(calls).toEqual([LEASE_MS + 10_000]);
    const [again] = await lease();
    if (again === undefined) throw new Error('no job');
    const back = { runAt: clock.now() + 500, countAttempt: true };
    expect(await queue.retry(again, back)).toBe(true);
    calls.length = 0;
    await clock.advance(499);
    expect(calls).toEqual([]);
    await clock.advance(1);
    expect(calls).toHaveLength(1);
    await lease();
    calls.length = 0;
    // Beyond the time of the renewal that failed.
    await clock.advance(50_000);
    expect(calls).toEqual([]);
    stop();
  });
});
