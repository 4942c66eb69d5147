import type { CreditLedger, Hold, HoldRequest, Store } from '@questline/core/ports';
import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createSqlLedger, createSqlLimiter, createSqlStore } from '../src/index.ts';
import { untilBlocked } from './blocked.ts';
import { POSTGRES, POSTGRES_URL } from './engines.ts';
import { shareDatabase } from './shared.ts';

const ACCOUNT = 'user:a';
const CAP = { id: 'cap', limit: 100 };
const FURTHER = { id: 'cap', unit: 'credits', limit: 100, amount: 60 } as const;

describe.skipIf(POSTGRES_URL === undefined)('a hold on PostgreSQL', () => {
  const shared = shareDatabase(POSTGRES);

  /** Asks for a hold while another transaction that is not committed yet makes a change. */
  const holdDuring = async (
    change: (tables: Record<'accounts' | 'caps', string>) => string,
    more: Pick<HoldRequest, 'cap' | 'caps'>,
  ) => {
    const database = await shared.fresh();
    if (database.dialect !== 'postgres') throw new Error('of another engine');
    const clock = createFakeClock();
    const ledger = createSqlLedger(shared.peer(), { clock, ids: createFakeIds() });
    const expiresAt = clock.now() + 60_000;
    const details = { operation: 'chat' };
    const common = { account: ACCOUNT, expiresAt, details, ...more };
    await ledger.grant({ account: ACCOUNT, amount: 100, key: 'a', reason: 'start' });
    // So that the rows of the caps exist.
    const caps = more.caps?.map((one) => ({ ...one, amount: 0 })) ?? [];
    await ledger.hold({ ...common, caps, amount: 0, key: 'first' });
    const tables = {
      accounts: database.names.table('ledgerAccounts'),
      caps: database.names.table('ledgerCaps'),
    };
    const { waiting } = await database.transaction(async (connection) => {
      await connection.run({ sql: change(tables), parameters: [] });
      const asked = ledger.hold({ ...common, amount: 60, key: 'second' });
      await untilBlocked(database, tables.accounts);
      return { waiting: asked };
    });
    const outcome = await waiting;
    const { available } = await ledger.balance(ACCOUNT);
    return { outcome: outcome.outcome, available };
  };

  it.each([
    ['with a spend cap', { cap: CAP }],
    ['with further caps', { caps: [{ ...FURTHER, id: 'other', limit: 1000 }] }],
  ])('%s sees credit that another one has just taken', async (_, more) => {
    const take = ({ accounts }: { accounts: string }) => `update ${accounts} set held = held + 60`;
    expect(await holdDuring(take, more)).toEqual({ outcome: 'insufficient_credits', available: 40 });
  });

  it.each([
    ['a spend cap', { cap: CAP }, 'spend_cap_exceeded'],
    ['a further cap', { caps: [FURTHER] }, 'cap_exceeded'],
  ])('sees what another one has just taken of %s', async (_, more, outcome) => {
    const take = ({ caps }: { caps: string }) => `update ${caps} set held = held + 60`;
    expect(await holdDuring(take, more)).toEqual({ outcome, available: 100 });
  });
});

describe.skipIf(POSTGRES_URL === undefined)('a busy row on PostgreSQL', () => {
  const shared = shareDatabase(POSTGRES);
  const WINDOWS = [{ name: 'minute', limit: 100, lengthMs: 60_000 }];

  /** Runs calls while another transaction has locked the rows of a table. */
  const duringLock = async <T>(
    table: 'ledgerAccounts' | 'rateWindows',
    key: string,
    work: (blocked: () => Promise<void>) => Promise<T>,
  ): Promise<T> => {
    const database = shared.peer();
    const name = database.names.table(table);
    const column = table === 'rateWindows' ? 'key' : 'account';
    return database.transaction(async (connection) => {
      const sql = `select 1 from ${name} where ${column} = $1 for update`;
      await connection.run({ sql, parameters: [key] });
      return work(() => untilBlocked(database, name));
    });
  };

  interface Tools {
    readonly ledger: CreditLedger;
    readonly store: Store;
    readonly request: (account: string, key: string) => HoldRequest;
  }

  it.each<[string, (tools: Tools, hold: Hold) => unknown, object]>([
    ['settlements', ({ ledger }, hold) => ledger.settle(hold, 2), { posted: 88, held: 0 }],
    [
      'steps with a settlement',
      ({ ledger, store }, hold) => {
        const settlement = ledger.toSettlement?.(hold, 2, undefined);
        return settlement && store.writeAll?.([settlement]);
      },
      { posted: 88, held: 0 },
    ],
    ['releases', ({ ledger }, hold) => ledger.release(hold), { posted: 100, held: 0 }],
    [
      'holds',
      ({ ledger, request }, { id }) => ledger.hold(request('user:a', `another ${id}`)),
      { posted: 100, held: 12 },
    ],
  ])('keeps one connection of a process, however many %s wait for an account', async (_, call, expected) => {
    const database = await shared.fresh();
    const ledger = createSqlLedger(database, { clock: createFakeClock(), ids: createFakeIds() });
    const request = (account: string, key: string) => ({
      ...{ account, key, amount: 1, expiresAt: createFakeClock().now() + 60_000 },
      details: { operation: 'chat' },
    });
    const tools = { ledger, store: createSqlStore(database), request };
    for (const account of ['user:a', 'user:b']) {
      await ledger.grant({ account, amount: 100, key: account, reason: 'start' });
    }
    const holds: Hold[] = [];
    for (const key of ['1', '2', '3', '4', '5', '6']) {
      const held = await ledger.hold(request('user:a', key));
      if (held.outcome === 'held') holds.push(held.hold);
    }
    const waiting = await duringLock('ledgerAccounts', 'user:a', async (blocked) => {
      const calls = holds.map((hold) => call(tools, hold));
      await blocked();
      expect(await ledger.hold(request('user:b', 'other'))).toMatchObject({ outcome: 'held' });
      return { calls };
    });
    await Promise.all(waiting.calls);
    expect(await ledger.balance('user:a')).toMatchObject(expected);
  });

  it('keeps one connection of a process, however many requests wait for a key', async () => {
    const limiter = createSqlLimiter(await shared.fresh());
    await limiter.take('busy', WINDOWS, 1);
    const waiting = await duringLock('rateWindows', 'busy', async (blocked) => {
      const calls = Array.from({ length: 9 }, () => limiter.take('busy', WINDOWS, 1));
      await blocked();
      expect(await limiter.take('other', WINDOWS, 1)).toMatchObject({ allowed: true });
      return { calls };
    });
    const decisions = await Promise.all(waiting.calls);
    expect(decisions.map(({ windows: [minute] }) => minute?.remaining)).toEqual([
      98, 97, 96, 95, 94, 93, 92, 91, 90,
    ]);
  });

  it('leaves its turn to the next when a call is given up', async () => {
    const limiter = createSqlLimiter(await shared.fresh());
    await limiter.take('busy', WINDOWS, 1);
    const control = new AbortController();
    const waiting = await duringLock('rateWindows', 'busy', async (blocked) => {
      const first = limiter.take('busy', WINDOWS, 1);
      await blocked();
      const left = limiter.take('busy', WINDOWS, 1, { signal: control.signal });
      const last = limiter.take('busy', WINDOWS, 1);
      control.abort(new Error('left'));
      await expect(left).rejects.toThrow('left');
      return { calls: [first, last] };
    });
    const decisions = await Promise.all(waiting.calls);
    expect(decisions.map(({ windows: [minute] }) => minute?.remaining)).toEqual([98, 97]);
  });
});
