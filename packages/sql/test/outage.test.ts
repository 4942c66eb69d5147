import { setTimeout as sleep } from 'node:timers/promises';
import { createIds, createSystemClock } from '@questline/core/memory';
import { isStorageUnavailable } from '@questline/core/ports';
import { createTcpProxy, storeSuiteCollections, type TcpProxy } from '@questline/testing';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createPostgresDatabase,
  createSqlPorts,
  migrate,
  type SqlDatabase,
  type SqlPorts,
} from '../src/index.ts';
import { type OpenEngine, POSTGRES, POSTGRES_URL } from './engines.ts';

const [notes] = storeSuiteCollections;
const note = (id: string) => ({ id, ownerId: 'alice', createdAt: 1 });

/** Maximum latency of a call, for an error as for the first success after the recovery. */
const BOUND_MS = 5000;
/** A short timeout where its length does not matter. */
const SHORT_MS = 800;

describe.runIf(POSTGRES_URL !== undefined)('PostgreSQL behind a failing network', () => {
  let open: OpenEngine;
  let proxy: TcpProxy;
  let pool: pg.Pool;
  let database: SqlDatabase;
  let ports: SqlPorts;

  const start = async (timeoutMs?: number) => {
    const url = new URL(POSTGRES_URL ?? '');
    proxy = await createTcpProxy({ host: url.hostname, port: Number(url.port) || 5432 });
    url.hostname = '127.0.0.1';
    url.port = String(proxy.port);
    pool = new pg.Pool({ connectionString: url.href, max: 5, connectionTimeoutMillis: timeoutMs ?? 4000 });
    const { schema } = open.address as { schema: string };
    database = createPostgresDatabase({ pool, schema, ...(timeoutMs !== undefined && { timeoutMs }) });
    const clock = createSystemClock();
    ports = createSqlPorts(database, { clock, ids: createIds({ clock }) });
    await fillPool();
  };

  /** Opens all connections. Repeats it where a busy machine takes longer than the limit of a call. */
  const fillPool = async () => {
    const run = () => database.run({ sql: 'select pg_sleep(0.02)', parameters: [] });
    for (;;) {
      const outcomes = await Promise.allSettled(Array.from({ length: 5 }, run));
      const failed = outcomes.find((one) => one.status === 'rejected');
      if (failed === undefined) break;
      expect(isStorageUnavailable(failed.reason), String(failed.reason)).toBe(true);
    }
    expect(pool.totalCount).toBe(5);
  };

  beforeEach(async () => {
    open = await POSTGRES.open();
    await migrate(open.database, { collections: storeSuiteCollections });
  });
  afterEach(async () => {
    await proxy.close();
    await database.close();
    await pool.end();
    await open.close();
  });

  /** One call of each port, in parallel. */
  const everyPort = (): Promise<unknown>[] => {
    const { store, ledger, limiter, queue } = ports;
    const hold = { account: 'user:a', amount: 0, key: 'k', expiresAt: Date.now() + 60_000 };
    return [
      store.collection(notes).get('a'),
      store.transaction((inside) => inside.collection(notes).insert(note('b'))),
      ledger.hold({ ...hold, details: { operation: 'test' } }),
      limiter.take('key', [{ name: 'minute', limit: 5, lengthMs: 60_000 }], Date.now()),
      queue.lease({ kinds: ['any'], limit: 1, leaseMs: 1000 }),
    ];
  };

  const expectUnavailable = async (calls: readonly Promise<unknown>[]): Promise<void> => {
    const began = performance.now();
    for (const outcome of await Promise.allSettled(calls)) {
      expect(outcome.status).toBe('rejected');
      expect(
        outcome.status === 'rejected' && isStorageUnavailable(outcome.reason),
        JSON.stringify(outcome),
      ).toBe(true);
    }
    const took = Math.round(performance.now() - began);
    console.log(`${expect.getState().currentTestName}: every port reported an error after ${took} ms`);
    expect(took).toBeLessThan(BOUND_MS);
  };

  /** Retries, as callers do, until the call succeeds. */
  const expectReturn = async (): Promise<number> => {
    const began = performance.now();
    let failures = 0;
    for (;;) {
      const outcomes = await Promise.allSettled(everyPort());
      if (outcomes.every(({ status }) => status === 'fulfilled')) break;
      failures += 1;
      await sleep(20);
      if (performance.now() - began > BOUND_MS)
        throw new Error(`${failures} tries, ${JSON.stringify(outcomes)}`);
    }
    const took = Math.round(performance.now() - began);
    console.log(
      `${expect.getState().currentTestName}: recovered ${took} ms after the return, ${failures} failed attempts`,
    );
    expect(took).toBeLessThan(BOUND_MS);
    return failures;
  };

  it('reports a refused connection and recovers', async () => {
    await start();
    await proxy.refuse();
    await expectUnavailable(everyPort());
    await proxy.accept();
    await expectReturn();
  });

  it('reports a reset in the middle of requests and recovers', async () => {
    await start();
    const slow = Array.from({ length: 5 }, () => database.run({ sql: 'select pg_sleep(2)', parameters: [] }));
    const reported = expectUnavailable(slow);
    await sleep(200);
    proxy.reset();
    await reported;
    await expectReturn();
  });

  it('detects a frozen network within five seconds on one call, for all connections, with default limits', async () => {
    await start();
    proxy.freeze();
    await expectUnavailable([ports.store.collection(notes).get('a')]);
    // Four idle connections are as dead as the fifth; no other caller must wait to detect that.
    proxy.unfreeze('lose');
    expect(await expectReturn()).toBe(0);
  });

  it.each(['revive', 'lose'] as const)('recovers after a freeze when connections %s', async (old) => {
    await start(SHORT_MS);
    proxy.freeze();
    await expectUnavailable(everyPort());
    await expectUnavailable(everyPort());
    proxy.unfreeze(old);
    await expectReturn();
  });

  it('keeps no write and no lock of a transaction frozen in the middle', async () => {
    await start(SHORT_MS);
    const collection = ports.store.collection(notes);
    await collection.insert(note('a'));
    const broken = ports.store.transaction(async (inside) => {
      await inside.collection(notes).update('a', { rank: 1 });
      await inside.collection(notes).insert(note('c'));
      proxy.freeze();
      await inside.collection(notes).update('a', { rank: 2 });
    });
    await expectUnavailable([broken]);
    proxy.unfreeze('lose');
    await expectReturn();
    expect(await collection.get('a')).toEqual(note('a'));
    expect(await collection.get('c')).toBeUndefined();
    expect(await collection.update('a', { rank: 3 })).toMatchObject({ rank: 3 });
  });

  it('holds once when a frozen hold is repeated with the same key', async () => {
    await start(SHORT_MS);
    const { ledger } = ports;
    await ledger.grant({ account: 'user:a', amount: 10, key: 'credit', reason: 'test' });
    const request = {
      account: 'user:a',
      amount: 7,
      key: 'call',
      expiresAt: Date.now() + 60_000,
      details: { operation: 'test' },
    };
    proxy.freeze();
    await expectUnavailable([ledger.hold(request)]);
    // The sent data arrives now, after its caller timed out.
    proxy.unfreeze('revive');
    await expectReturn();
    expect((await ledger.hold(request)).outcome).toBe('held');
    expect(await ledger.balance('user:a')).toEqual({ posted: 10, held: 7, available: 3 });
  });

  it('keeps the size of the pool, with working connections only', async () => {
    await start(SHORT_MS);
    proxy.freeze();
    await expectUnavailable(everyPort());
    proxy.unfreeze('lose');
    await expectReturn();
    const asked = Array.from({ length: 20 }, () => database.run({ sql: 'select 1 as one', parameters: [] }));
    for (const rows of await Promise.all(asked)) expect(rows).toEqual([{ one: 1 }]);
    expect(pool.totalCount).toBeLessThanOrEqual(5);
    expect(pool.waitingCount).toBe(0);
  });
});
