import type { Hold, HoldCap, HoldRequest } from '@questline/core/ports';
import { createFakeClock, createFakeIds } from '@questline/testing';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createPostgresDatabase, createSqlLedger } from '../src/index.ts';
import { untilBlocked } from './blocked.ts';
import { POSTGRES, POSTGRES_URL } from './engines.ts';
import { recordPool } from './recorded-pool.ts';
import { shareDatabase } from './shared.ts';

const ACCOUNT = 'user:a';
const SPEND_CAP = { id: 'spend', limit: 100 };
const LEASED = 1000;

const requests = (limit: number, id = 'requests'): HoldCap => ({ id, unit: 'requests', amount: 1, limit });

describe.runIf(POSTGRES_URL !== undefined)('the ledger on PostgreSQL', () => {
  const shared = shareDatabase(POSTGRES);

  /** A ledger whose statements are recorded, with free connections. @param before runs before each statement. */
  const open = async (before?: (text: string) => unknown) => {
    const { names } = await shared.fresh();
    const connectionString = POSTGRES_URL;
    const pool = new pg.Pool({ connectionString, max: 8, connectionTimeoutMillis: 20_000 });
    onTestFinished(() => pool.end());
    await Promise.all(Array.from({ length: 8 }, () => pool.query('select 1')));
    const statements: string[] = [];
    const { schema = '' } = names;
    const recorded = recordPool(pool, statements, before);
    const database = createPostgresDatabase({ pool: recorded, schema, timeoutMs: 20_000 });
    const clock = createFakeClock();
    const ledger = createSqlLedger(database, { clock, ids: createFakeIds(1) });
    const grant = (amount: number, account = ACCOUNT) =>
      ledger.grant({ account, amount, key: `${amount}`, reason: 'start' });
    const hold = (key: string, amount: number, more: Partial<HoldRequest> = {}) =>
      ledger.hold({
        ...{ account: ACCOUNT, amount, key, expiresAt: clock.now() + LEASED },
        ...{ details: { operation: 'chat' }, ...more },
      });
    const mustHold = async (key: string, amount: number, more?: Partial<HoldRequest>): Promise<Hold> => {
      const held = await hold(key, amount, more);
      if (held.outcome !== 'held') throw new Error(held.outcome);
      return held.hold;
    };
    const count = async (work: () => Promise<unknown>): Promise<number> => {
      statements.splice(0);
      await work();
      return statements.length;
    };
    return { ledger, names, clock, statements, grant, hold, mustHold, count };
  };

  it('makes and ends a hold without caps in one statement each, and a hold does not read caps', async () => {
    const { ledger, names, statements, grant, mustHold, count } = await open();
    await grant(100);
    statements.splice(0);
    const hold = await mustHold('a', 10);
    expect(statements).toHaveLength(1);
    expect(statements[0]).not.toContain(names.table('ledgerCaps'));
    expect(await count(() => ledger.release(hold))).toBe(1);
    const next = await mustHold('b', 10);
    expect(await count(() => ledger.settle(next, 5))).toBe(1);
  });

  it('creates the rows of a new account and its caps once', async () => {
    const { ledger, hold, count } = await open();
    const caps = [requests(9), requests(9, 'others')];
    const asked = () => hold('a', 0, { cap: SPEND_CAP, caps });
    // The hold, whether it is known, two looks, the rows, and the hold again.
    expect(await count(asked)).toBe(6);
    const used = { spent: 0, reserved: 1 };
    expect(await ledger.capUsage?.(['requests', 'others'])).toEqual([used, used]);
  });

  it.each([
    ['a further cap', { caps: [requests(1)] }],
    ['the last of two further caps', { caps: [requests(9, 'others'), requests(1)] }],
  ])('frees what an expired hold of another account has taken of %s', async (_, more) => {
    const { clock, grant, hold, mustHold, count } = await open();
    await grant(100);
    await grant(100, 'user:b');
    await mustHold('first', 10, { ...more, account: 'user:b' });
    expect((await hold('early', 10, more)).outcome).toBe('cap_exceeded');
    await clock.advance(LEASED);
    // The hold, whether it is known, two looks, the end of the expired one, and the hold again.
    expect(await count(() => mustHold('next', 10, more))).toBe(6);
  });

  it('holds 0 below a balance of 0 if the balance is ignored, without any cap', async () => {
    const { ledger, grant, mustHold } = await open();
    await grant(-5);
    expect(await mustHold('free', 0, { ignoresBalance: true })).toMatchObject({ amount: 0 });
    expect(await ledger.balance(ACCOUNT)).toEqual({ posted: -5, held: 0, available: -5 });
  });

  it.each([
    ['a spend cap', { cap: { id: 'spend', limit: 10 } }, 'spend_cap_exceeded'],
    ['a further cap', { caps: [requests(1)] }, 'cap_exceeded'],
  ])('grants no more than %s allows to holds that come at once', async (_, more, refusal) => {
    const { ledger, grant, hold } = await open();
    await grant(100);
    const outcomes = await Promise.all(['a', 'b', 'c', 'd'].map((key) => hold(key, 10, more)));
    const names = outcomes.map(({ outcome }) => outcome).sort();
    expect(names).toEqual(['held', refusal, refusal, refusal].sort());
    expect(await ledger.balance(ACCOUNT)).toMatchObject({ held: 10 });
  });

  it('returns the hold that another process makes with the same key at the same time', async () => {
    const { ledger, names, grant, hold } = await open();
    await grant(100);
    const charges = names.table('ledgerCharges');
    const other = await shared.peer().transaction(async (connection) => {
      await connection.run({
        sql: `insert into ${charges} (id, kind, key, account, reserved, expires_at, charged, operation, created_at)
          values ('other', 'hold', 'same', $1, 10, 7, 0, 'chat', 1)`,
        parameters: [ACCOUNT],
      });
      const asked = hold('same', 10);
      await untilBlocked(shared.peer(), charges);
      return { asked };
    });
    const made = { id: 'other', account: ACCOUNT, amount: 10, expiresAt: 7 };
    expect(await other.asked).toEqual({ outcome: 'held', hold: made });
    expect(await ledger.balance(ACCOUNT)).toMatchObject({ held: 0 });
  });

  it.each([
    ['of itself', 1, 0],
    ['of the look for its key', 2, 0],
    ['of the look at the account', 3, 0],
    ['that creates the account', 4, 0],
    ['that ends an expired hold', 4, 100],
  ])('rejects a hold when the statement fails %s, and sends no other one', async (_, broken, granted) => {
    let left = 0;
    const { ledger, clock, grant, hold, mustHold, count } = await open(() => {
      left -= 1;
      if (left === 0) throw Object.assign(new Error('broken'), { code: '22003', severity: 'ERROR' });
    });
    if (granted > 0) {
      await grant(granted);
      await mustHold('expired', granted);
      await clock.advance(LEASED);
    }
    left = broken;
    expect(await count(() => expect(hold('a', 10)).rejects.toThrow('broken'))).toBe(broken);
    expect(await ledger.balance(ACCOUNT)).toEqual({ posted: granted, held: 0, available: granted });
  });

  it.each<[string, (ledger: Awaited<ReturnType<typeof open>>, holds: readonly Hold[]) => Promise<unknown>[]]>(
    [
      ['holds with a spend cap', ({ hold }) => ['d', 'e'].map((key) => hold(key, 1, { cap: SPEND_CAP }))],
      [
        'holds with further caps',
        ({ hold }) => ['d', 'e'].map((key) => hold(key, 1, { caps: [requests(9)] })),
      ],
      ['releases', ({ ledger }, holds) => holds.map((one) => ledger.release(one))],
      [
        'a release and a settlement',
        ({ ledger }, [a, b]) => (a && b ? [ledger.release(a), ledger.settle(b, 1)] : []),
      ],
    ],
  )('sends one statement at a time for an account with a busy row: %s', async (_, call) => {
    const opened = await open();
    const { names, statements, grant, mustHold } = opened;
    await grant(100);
    const holds = [await mustHold('a', 1), await mustHold('b', 1), await mustHold('c', 1)];
    const accounts = names.table('ledgerAccounts');
    const waiting = await shared.peer().transaction(async (connection) => {
      await connection.run({ sql: `select 1 from ${accounts} for update`, parameters: [] });
      statements.splice(0);
      const calls = call(opened, holds);
      await untilBlocked(shared.peer(), accounts);
      await grant(1, 'user:b');
      return { calls, sent: statements.length };
    });
    // One of the account, and the grant.
    expect(waiting.sent).toBe(2);
    expect(await Promise.all(waiting.calls)).toHaveLength(waiting.calls.length);
  });
});
