import { SHARD_PLACEMENTS } from '@questline/sql';
import { describe, expect, it } from 'vitest';
import { type ShardName, shareMoves } from '../support/moves.ts';
import { type Pause, pauseStatements } from '../support/paused-statements.ts';

const HOUR_MS = 3_600_000;
const CREDIT = 1_000_000_000;

describe('the work and the limits of an owner that moves to another database', () => {
  const open = shareMoves();

  it('waits for a leased job', async () => {
    const app = await open();
    const { queue } = app.services;
    await queue.enqueue({ kind: 'test', key: 'job', owner: app.user.id, payload: null });
    const [job] = await queue.lease({ kinds: ['test'], limit: 1, leaseMs: HOUR_MS });
    expect(job).toMatchObject({ owner: app.user.id });
    expect(await app.move('b', { drainMs: 5000 })).toEqual({ outcome: 'busy' });
    await queue.enqueue({ kind: 'test', key: 'next', owner: app.user.id, payload: null });
    const next = await queue.lease({ kinds: ['test'], limit: 1, leaseMs: HOUR_MS });
    expect(next).toHaveLength(1);
    for (const one of [job, ...next]) if (one !== undefined) await queue.finish(one);
    expect(await app.move('b', { drainMs: 5000 })).toMatchObject({ outcome: 'moved', jobs: 0 });
  });

  it('waits as long as it may', async () => {
    const app = await open();
    const { queue } = app.services;
    await queue.enqueue({ kind: 'test', key: 'job', owner: app.user.id, payload: null });
    expect(await queue.lease({ kinds: ['test'], limit: 1, leaseMs: HOUR_MS })).toHaveLength(1);
    const measure = async (drainMs?: number): Promise<number> => {
      const begin = app.clock.now();
      const outcome = await app.move('b', { ...(drainMs !== undefined && { drainMs }) });
      expect(outcome).toEqual({ outcome: 'busy' });
      return app.clock.now() - begin;
    };
    const [short, long] = [await measure(5000), await measure()];
    expect(long - short).toBeGreaterThanOrEqual(54_000);
    expect(long - short).toBeLessThanOrEqual(56_000);
  });

  it('is looked for about once a second', async () => {
    const app = await open();
    const { queue } = app.services;
    await queue.enqueue({ kind: 'test', key: 'job', owner: app.user.id, payload: null });
    expect(await queue.lease({ kinds: ['test'], limit: 1, leaseMs: HOUR_MS })).toHaveLength(1);
    const { home: _, ...shards } = app.databases;
    const pause: Pause = { place: -1, calls: 0, go: undefined };
    const a = pauseStatements(shards.a, pause);
    expect(await app.move('b', { shards: { ...shards, a }, drainMs: 20_000 })).toEqual({ outcome: 'busy' });
    expect(pause.calls).toBeGreaterThan(15);
    expect(pause.calls).toBeLessThan(25);
  });

  it('moves to the home database, if that is one of the shards, and back', async () => {
    const app = await open();
    for (const to of ['home', 'a'] as const) {
      expect(await app.move(to, { shards: app.databases })).toMatchObject({ outcome: 'moved' });
      expect((await app.single[to].ledger.balance(app.account)).posted).toBe(CREDIT);
    }
    expect((await app.single.home.ledger.balance(app.account)).posted).toBe(0);
  });

  it('moves with many jobs', async () => {
    const app = await open();
    for (let at = 0; at < 1001; at += 1) {
      await app.services.queue.enqueue({ kind: 'test', key: `${at}`, owner: app.user.id, payload: null });
    }
    expect(await app.move('b')).toMatchObject({ outcome: 'moved', jobs: 1001 });
    expect(await app.single.b.queue.counts()).toMatchObject({ ready: 1001 });
    expect(await app.single.a.queue.counts()).toMatchObject({ ready: 0 });
  });

  it('leaves the rate windows of owners with similar names', async () => {
    const app = await open();
    const windows = [{ name: 'day', limit: 5, lengthMs: HOUR_MS }];
    const owners = ['team_1', 'team-1', 'TEAM_1', 'team_12'];
    for (const owner of owners) {
      await app.single.home.store.collection(SHARD_PLACEMENTS).insert({ id: owner, shard: 'a' });
      await app.single.a.limiter.take(`user:${owner}:standard`, windows, app.clock.now());
      await app.single.a.limiter.take(`paid:${owner}`, windows, app.clock.now());
    }
    expect(await app.move('b', { owner: 'team_1' })).toMatchObject({ outcome: 'moved' });
    const list = async (name: ShardName) => {
      const { names, run } = app.databases[name];
      const sql = `select key from ${names.table('rateWindows')} where key like '%team%' order by key`;
      return (await run({ sql, parameters: [] })).map(({ key }) => String(key));
    };
    expect(await list('b')).toEqual(['paid:team_1', 'user:team_1:standard']);
    const others = owners.slice(1).flatMap((owner) => [`paid:${owner}`, `user:${owner}:standard`]);
    expect(await list('a')).toEqual(others.toSorted());
  });
});
