import { countTokens } from '@questline/core/internal';
import type { Clock, CreditLedger } from '@questline/core/ports';
import type { PostgresDatabase } from '../database.ts';
import type { SqlNames } from '../names.ts';
import { defineStatement } from '../statement.ts';
import { defineConditional, toEngineWrite } from '../store/engine-write.ts';
import { createCapSql } from './postgres-caps.ts';
import { toText } from './writes.ts';

/** The row of an account for `SqlStatement.row`. */
export function toAccountRow(account: string): string {
  return `account ${account}`;
}

export type SettledValue = 'id' | 'actual' | 'usage' | 'tokens' | 'now';

/** The CTEs of a settlement. `charge` has one row if it has an effect. */
export function toSettlementText(names: SqlNames, condition: string): string {
  const accounts = names.table('ledgerAccounts');
  const holds = names.table('ledgerHolds');
  const charges = names.table('ledgerCharges');
  const entries = names.table('ledgerEntries');
  return `charge as (
       update ${charges} set settled_at = cast(@now as bigint), charged = cast(@actual as bigint),
         usage = cast(@usage as jsonb)
       where id = @id and kind = 'hold' and settled_at is null and ${condition}
       returning account, key, operation, cap_id
     ), hold as (
       delete from ${holds} h using charge where h.account = charge.account and h.id = @id
       returning case when h.counted then h.amount else 0 end as freed, h.counted
     ), ended as materialized (
       select account, cap_id, coalesce((select freed from hold), 0) as freed,
         coalesce((select counted from hold), false) as counted
       from charge
     ), account as (
       update ${accounts} a set posted = a.posted - cast(@actual as bigint), held = a.held - ended.freed
       from ended where a.account = ended.account returning 1
     ), ${createCapSql(names).settle}, entry as (
       insert into ${entries} (account, kind, amount, key, reason, created_at)
       select account, 'charge', -cast(@actual as bigint), key, operation, cast(@now as bigint)
       from charge where cast(@actual as bigint) > 0
     )`;
}

/** Settlements as a part of other writes. One list of writes has at most one, because its CTEs have fixed names. */
export function createToSettlement(
  database: PostgresDatabase,
  clock: Clock,
): NonNullable<CreditLedger['toSettlement']> {
  const { dialect, names } = database;
  const settleIf = defineConditional<SettledValue>(dialect, (condition) =>
    toSettlementText(names, condition),
  );
  const isOpen = defineStatement<'id'>(
    dialect,
    `exists (select 1 from ${names.table('ledgerCharges')}
       where id = @id and kind = 'hold' and settled_at is null)`,
  );
  return ({ id, account }, actual, usage) => {
    // `settle` rejects it.
    if (!Number.isSafeInteger(actual) || actual < 0) return undefined;
    const tokens = countTokens(usage) ?? null;
    return toEngineWrite(database, {
      ctes: settleIf({ id, actual, usage: toText(usage), tokens, now: clock.now() }),
      expected: isOpen({ id }),
      row: toAccountRow(account),
      toStatement: () => ({ sql: 'select 1 as done from charge', parameters: [] }),
    });
  };
}
