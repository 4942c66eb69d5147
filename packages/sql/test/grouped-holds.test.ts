import type { Hold, HoldRequest } from '@questline/core/ports';
import { createFakeClock, createFakeIds } from '@questline/testing';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createPostgresDatabase, createSqlLedger } from '../src/index.ts';
import { POSTGRES, POSTGRES_URL } from './engines.ts';
import { recordPool } from './recorded-pool.ts';
import { shareDatabase } from './shared.ts';

const ACCOUNT = 'organization:a';
const USAGE = { input: 10, output: 20 };

describe.runIf(POSTGRES_URL !== undefined)('calls of one account at once, on PostgreSQL', () => {
  const shared = shareDatabase(POSTGRES);

  /** A ledger whose statements are recorded, and an account with 1,000. */
  const open = async () => {
    const { names } = await shared.fresh();
    const pool = new pg.Pool({ connectionString: POSTGRES_URL, max: 3, connectionTimeoutMillis: 20_000 });
    onTestFinished(() => pool.end());
    const statements: string[] = [];
    const { schema = '' } = names;
    const clock = createFakeClock();
    const database = createPostgresDatabase({
      pool: recordPool(pool, statements),
      schema,
      timeoutMs: 20_000,
    });
    const ledger = createSqlLedger(database, { clock, ids: createFakeIds(1) });
    await ledger.grant({ account: ACCOUNT, amount: 1000, key: 'start', reason: 'start' });
    statements.splice(0);

    const toRequest = (key: string, amount: number, more: Partial<HoldRequest> = {}): HoldRequest => {
      const details = { operation: 'chat', model: 'demo', keyId: 'key', userId: 'ada', requestId: key };
      return { account: ACCOUNT, amount, key, expiresAt: clock.now() + 1000, details, ...more };
    };
    const hold = (key: string, amount: number, more?: Partial<HoldRequest>) =>
      ledger.hold(toRequest(key, amount, more));
    const holdAll = async (count: number, amount: number, more?: Partial<HoldRequest>): Promise<Hold[]> => {
      const outcomes = await Promise.all(
        Array.from({ length: count }, (_, at) => hold(`k${at}`, amount, more)),
      );
      return outcomes.map((one) => {
        if (one.outcome !== 'held') throw new Error(one.outcome);
        return one.hold;
      });
    };
    return { ledger, database, clock, statements, hold, holdAll, toRequest };
  };

  it('share a statement for holds and one for settlements', async () => {
    const { ledger, statements, holdAll } = await open();
    const holds = await holdAll(40, 10);
    expect(statements).toHaveLength(2);
    expect(new Set(holds.map(({ id }) => id)).size).toBe(40);
    expect(await ledger.balance(ACCOUNT)).toEqual({ posted: 1000, held: 400, available: 600 });

    statements.splice(0);
    const settled = await Promise.all(holds.map((one, at) => ledger.settle(one, at % 10, USAGE)));
    expect(statements).toHaveLength(2);
    expect(settled).toEqual(holds.map((_, at) => ({ charged: at % 10, first: true })));
    expect(await ledger.balance(ACCOUNT)).toEqual({ posted: 820, held: 0, available: 820 });
    const charges = await ledger.charges({ account: ACCOUNT }, 100);
    expect(charges).toHaveLength(40);
    for (const [at, { id }] of holds.entries()) {
      expect(charges.find((one) => one.id === id)).toMatchObject({
        ...{ status: 'settled', amount: at % 10, usage: USAGE, operation: 'chat', model: 'demo' },
        ...{ keyId: 'key', userId: 'ada', requestId: `k${at}` },
      });
    }
    // What cost nothing has no entry.
    const entries = await ledger.entries(ACCOUNT, { limit: 100 });
    expect(entries.filter(({ kind }) => kind === 'charge')).toHaveLength(36);
  });

  it('come in groups of at most 64', async () => {
    const { statements, holdAll } = await open();
    await holdAll(130, 1);
    expect(statements).toHaveLength(4);
  });

  it('get what the credit allows when it does not suffice for all of them', async () => {
    const { ledger, statements, hold } = await open();
    await hold('most', 900);
    statements.splice(0);
    const outcomes = await Promise.all(Array.from({ length: 10 }, (_, at) => hold(`k${at}`, 30)));
    expect(outcomes.filter(({ outcome }) => outcome === 'held')).toHaveLength(3);
    expect(outcomes.find(({ outcome }) => outcome !== 'held')).toEqual({
      ...{ outcome: 'insufficient_credits', available: 10, required: 30 },
    });
    // One alone, the others together and then alone, and two look-ups for each of the seven refusals.
    expect(statements).toHaveLength(1 + 1 + 9 + 7 * 2);
    expect(await ledger.balance(ACCOUNT)).toEqual({ posted: 1000, held: 990, available: 10 });
  });

  it('keep their keys: a known one and one that comes twice are held once', async () => {
    const { ledger, hold } = await open();
    const first = await hold('known', 10);
    const keys = ['a', 'b', 'known', 'c', 'd', 'd'];
    const outcomes = await Promise.all(keys.map((key) => hold(key, 10)));
    expect(outcomes[2]).toEqual(first);
    expect(outcomes[4]).toEqual(outcomes[5]);
    expect(await ledger.balance(ACCOUNT)).toMatchObject({ held: 50 });
  });

  it('fail alone: an invalid hold has no effect on the others', async () => {
    const { ledger, hold } = await open();
    const keys = ['a', 'b', 'wrong\0', 'c'];
    const outcomes = await Promise.allSettled(keys.map((key) => hold(key, 10)));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(await ledger.balance(ACCOUNT)).toMatchObject({ held: 30 });
  });

  it('settle a hold once, however often they ask', async () => {
    const { ledger, holdAll } = await open();
    const holds = await holdAll(3, 10);
    const asked = [...holds, ...holds, ...holds];
    const settled = await Promise.all(asked.map((one, at) => ledger.settle(one, at < 3 ? 4 : 7)));
    expect(settled).toEqual(asked.map((_, at) => ({ charged: 4, first: at < 3 })));
    expect(await ledger.balance(ACCOUNT)).toEqual({ posted: 988, held: 0, available: 988 });
  });

  it('settle holds that have expired, whose credit is free already', async () => {
    const { ledger, clock, hold, holdAll } = await open();
    const holds = await holdAll(4, 200);
    await clock.advance(1000);
    // Needs the credit of the expired ones, which are subtracted then.
    const other = await hold('other', 1000);
    expect(other.outcome).toBe('held');
    await Promise.all(holds.map((one) => ledger.settle(one, 5)));
    expect(await ledger.balance(ACCOUNT)).toEqual({ posted: 980, held: 1000, available: -20 });
  });

  it('add to the caps of all holds what each of them adds', async () => {
    const { ledger, statements, holdAll } = await open();
    const caps = [
      { id: 'credits', unit: 'credits', amount: 10, limit: 1000 },
      { id: 'tokens', unit: 'tokens', amount: 50, limit: 1000 },
      { id: 'requests', unit: 'requests', amount: 1, limit: 1000 },
      { id: 'concurrent', unit: 'concurrent', amount: 1, limit: 1000 },
    ] as const;
    const holds = await holdAll(8, 10, { cap: { id: 'key', limit: 1000 }, caps });
    statements.splice(0);
    const usageOf = (at: number) => (at % 2 === 0 ? USAGE : undefined);
    await Promise.all(holds.map((one, at) => ledger.settle(one, at, usageOf(at))));
    expect(statements).toHaveLength(2);
    const usage = await ledger.capUsage?.(['key', 'credits', 'tokens', 'requests', 'concurrent']);
    expect(usage).toEqual([
      { spent: 28, reserved: 0 },
      { spent: 28, reserved: 0 },
      // Without a report, a call counts as the tokens that it reserved.
      { spent: 4 * 30 + 4 * 50, reserved: 0 },
      { spent: 8, reserved: 0 },
      { spent: 0, reserved: 0 },
    ]);
  });

  it('see credit that another process has just taken', async () => {
    const { ledger, database, hold } = await open();
    const table = database.names.table('ledgerAccounts');
    const waiting = await database.transaction(async (connection) => {
      await connection.run({ sql: `update ${table} set held = held + 950`, parameters: [] });
      const holds = ['a', 'b', 'c', 'd'].map((key) => hold(key, 20));
      const sql = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and position($1 in query) > 0`;
      while ((await database.run({ sql, parameters: [table] })).length === 0);
      return { holds };
    });
    const outcomes = await Promise.all(waiting.holds);
    expect(outcomes.filter(({ outcome }) => outcome === 'held')).toHaveLength(2);
    expect(await ledger.balance(ACCOUNT)).toEqual({ posted: 1000, held: 990, available: 10 });
  });
});
