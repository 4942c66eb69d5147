import type { HoldRequest } from '@questline/core/ports';
import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createSqlLedger, type SqlDatabase } from '../src/index.ts';
import { POSTGRES, POSTGRES_URL } from './engines.ts';
import { shareDatabase } from './shared.ts';

const ACCOUNT = 'user:a';
const CAP = { id: 'cap', limit: 100 };
const FURTHER = { id: 'cap', unit: 'credits', limit: 100, amount: 60 } as const;

/** Waits until a statement on a table waits for a lock. */
async function untilBlocked(database: SqlDatabase, table: string): Promise<void> {
  const sql = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and position($1 in query) > 0`;
  for (let look = 0; look < 5000; look += 1) {
    if ((await database.run({ sql, parameters: [table] })).length > 0) return;
  }
  throw new Error('no statement waits for a lock');
}

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
