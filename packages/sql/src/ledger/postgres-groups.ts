import { countTokens } from '@questline/core/internal';
import type { CallOptions, Usage } from '@questline/core/ports';
import type { PostgresDatabase } from '../database.ts';
import { createRowGrouping } from '../grouping.ts';
import { defineStatement } from '../statement.ts';
import { createCapSql } from './postgres-caps.ts';
import { toAccountRow } from './postgres-settlement.ts';
import { holdValues, type NewHold } from './writes.ts';

/** One settlement of a group. */
export interface NewSettlement {
  readonly id: string;
  readonly account: string;
  readonly actual: number;
  readonly usage: Usage | undefined;
  readonly now: number;
}

export interface LedgerGroups {
  /** @returns false for a known key or insufficient credit. Only for holds without caps. */
  hold(request: NewHold, options: CallOptions | undefined): Promise<boolean>;
  /** @returns false if it is settled already or unknown. */
  settle(settlement: NewSettlement): Promise<boolean>;
}

interface SingleWrites {
  hold(request: NewHold, options: CallOptions): Promise<boolean>;
  settle(settlement: NewSettlement, options: CallOptions): Promise<boolean>;
}

/** Maximum number of holds or settlements of one statement. */
const MAX_GROUP = 64;

/**
 * Holds and settlements of one account that come while one of them runs share the next statement: an account
 * that many calls change at once needs one lock and one commit for all of them. Two processes that end the same holds at
 * once may lock them in different orders: PostgreSQL ends one of the statements, which is then repeated.
 */
export function createLedgerGroups(
  { dialect, names, run, timeoutMs }: PostgresDatabase,
  single: SingleWrites,
): LedgerGroups {
  const accounts = names.table('ledgerAccounts');
  const holds = names.table('ledgerHolds');
  const charges = names.table('ledgerCharges');
  const archivedKeys = names.table('ledgerArchivedKeys');
  const limits = { max: MAX_GROUP, timeoutMs };

  // All new ones or none. The condition on the sum uses only its own row, as in the hold of one call. The subqueries with a limit
  // and the lists of ids are looked up in indexes, whatever the planner expects of the recordset.
  const holdAll = defineStatement<'account' | 'holds'>(
    dialect,
    `with fresh as materialized (
       select given.* from jsonb_to_recordset(cast(@holds as jsonb)) as given(
         id text, key text, amount bigint, "expiresAt" bigint, operation text, model text, "keyId" text, "userId" text,
         "requestId" text, now bigint
       )
       where (select 1 from ${charges} c where c.key = given.key and c.kind = 'hold' limit 1) is null
         and (select 1 from ${archivedKeys} a where a.key = given.key and a.kind = 'hold' limit 1) is null
     ), total as materialized (
       select cast(sum(amount) as bigint) as amount from fresh
     ), account as (
       update ${accounts} set held = held + total.amount from total
       where account = @account and posted - held >= total.amount
       returning account
     ), charge as (
       insert into ${charges} (id, kind, key, account, reserved, expires_at, charged,
         operation, model, key_id, user_id, request_id, created_at)
       select id, 'hold', key, account.account, amount, "expiresAt", 0, operation, model, "keyId", "userId", "requestId", now
       from fresh, account
       returning id, account, reserved, expires_at
     )
     insert into ${holds} (account, id, amount, expires_at, counted)
     select account, id, reserved, expires_at, true from charge
     returning id`,
  );

  const settleAll = defineStatement<'settlements' | 'ids'>(
    dialect,
    `with charge as (
       update ${charges} c set settled_at = given.now, charged = given.actual, usage = given.usage
       from jsonb_to_recordset(cast(@settlements as jsonb)) as given(
         id text, actual bigint, usage jsonb, tokens bigint, now bigint
       )
       where c.id = any(@ids) and c.id = given.id and c.kind = 'hold' and c.settled_at is null
       returning c.id, c.account, c.key, c.operation, c.cap_id, given.actual, given.tokens, given.now
     ), hold as (
       delete from ${holds} h using charge where h.account = charge.account and h.id = charge.id
       returning h.id, case when h.counted then h.amount else 0 end as freed, h.counted
     ), ended as materialized (
       select charge.*, coalesce(hold.freed, 0) as freed, coalesce(hold.counted, false) as counted
       from charge left join hold on hold.id = charge.id
     ), account as (
       update ${accounts} a set posted = a.posted - sums.actual, held = a.held - sums.freed
       from (
         select account, cast(sum(actual) as bigint) as actual, cast(sum(freed) as bigint) as freed
         from ended group by account
       ) sums
       where a.account = sums.account returning 1
     ), ${createCapSql(names).settleAll}, entry as (
       insert into ${names.table('ledgerEntries')} (account, kind, amount, key, reason, created_at)
       select account, 'charge', -actual, key, operation, now from charge where actual > 0
     )
     select id from charge`,
  );

  const hold = createRowGrouping<NewHold, boolean>((account) => ({
    ...limits,
    async runAll(requests, options) {
      const given = JSON.stringify(requests.map(holdValues));
      const statement = { ...holdAll({ account, holds: given }), row: toAccountRow(account) };
      const held = new Set((await run(statement, options)).map(({ id }) => id));
      // The credit does not suffice for all of them, but it may for some.
      if (held.size === 0) return Promise.all(requests.map((request) => single.hold(request, options)));
      return requests.map(({ id }) => held.has(id));
    },
    runOne: single.hold,
  }));

  const settle = createRowGrouping<NewSettlement, boolean>((account) => ({
    ...limits,
    async runAll(settlements, options) {
      // Of several for one hold, the first one settles it.
      const firsts = settlements.filter(({ id }, at) => settlements.findIndex((one) => one.id === id) === at);
      const given = firsts.map(({ id, actual, usage, now }) => ({
        ...{ id, actual, usage, now },
        tokens: countTokens(usage),
      }));
      const values = { settlements: JSON.stringify(given), ids: given.map(({ id }) => id) };
      const statement = { ...settleAll(values), row: toAccountRow(account) };
      const settled = new Set((await run(statement, options)).map(({ id }) => id));
      return settlements.map((one) => firsts.includes(one) && settled.has(one.id));
    },
    runOne: single.settle,
  }));

  return {
    hold: (request, options) => hold(request.account, request, options),
    settle: (settlement) => settle(settlement.account, settlement),
  };
}
