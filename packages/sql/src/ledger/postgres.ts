import { countTokens } from '@questline/core/internal';
import type { CallOptions, CapUsage } from '@questline/core/ports';
import type { PostgresDatabase } from '../database.ts';
import { defineStatement, type SqlRow, type SqlStatement, toNumber } from '../statement.ts';
import { isUniqueViolation } from '../violations.ts';
import { toIsNewText, toKnownHoldText } from './archived-keys.ts';
import { createCapSql, toCapsJson } from './postgres-caps.ts';
import { createLedgerGroups } from './postgres-groups.ts';
import { type SettledValue, toAccountRow, toSettlementText } from './postgres-settlement.ts';
import { toHold } from './rows.ts';
import {
  holdValues,
  type LedgerWrites,
  type NewHold,
  type Standing,
  toErrorResponse,
  toText,
} from './writes.ts';

/**
 * Each write is one statement: one round trip, and no lock outlives it. All lock in the same order (charges,
 * holds, accounts, caps), so they cannot deadlock.
 *
 * While a statement waits for a row lock, the row may change. An update then re-reads its own row, but sees
 * everything else in the snapshot of the statement: so the conditions of each sum use only its own row, and conditions
 * on other rows use unique indexes or `for update`.
 */
export function createPostgresWrites(database: PostgresDatabase): LedgerWrites {
  const { dialect, names, run } = database;
  const accounts = names.table('ledgerAccounts');
  const caps = names.table('ledgerCaps');
  const holds = names.table('ledgerHolds');
  const charges = names.table('ledgerCharges');
  const entries = names.table('ledgerEntries');
  const capSql = createCapSql(names);

  /** Inserts the hold for each row of `from`: one or none. */
  const insertHold = (from: string) =>
    `charge as (
       insert into ${charges} (id, kind, key, account, reserved, expires_at, charged, cap_id,
         operation, model, key_id, user_id, request_id, created_at)
       select @id, 'hold', @key, @account, cast(@amount as bigint), cast(@expiresAt as bigint), 0, @capId,
         @operation, @model, @keyId, @userId, @requestId, cast(@now as bigint)
       from ${from}
       returning id
     )
     insert into ${holds} (account, id, amount, expires_at, cap_id, counted)
     select @account, id, cast(@amount as bigint), cast(@expiresAt as bigint), @capId, true from charge
     returning id`;

  const isNew = toIsNewText(names, 'hold');

  const hold = defineStatement<keyof ReturnType<typeof holdValues>>(
    dialect,
    `with account as (
       update ${accounts} set held = held + cast(@amount as bigint)
       where account = @account and posted - held >= cast(@amount as bigint) and ${isNew}
       returning account
     ), ${insertHold('account')}`,
  );

  // Changes two sums or none: locks both rows before it reads them.
  const holdWithCap = defineStatement<keyof ReturnType<typeof holdValues>>(
    dialect,
    `with account as materialized (
       select posted - held as available from ${accounts} where account = @account for update
     ), cap as materialized (
       select charged + held as used from ${caps} where id = @capId and exists (select 1 from account) for update
     ), granted as materialized (
       select 1 from account, cap
       where available >= cast(@amount as bigint) and used + cast(@amount as bigint) <= cast(@capLimit as bigint)
         and ${isNew}
     ), held as (
       update ${accounts} set held = held + cast(@amount as bigint) from granted where account = @account
     ), cap_held as (
       update ${caps} set held = held + cast(@amount as bigint) from granted where id = @capId
     ), ${insertHold('granted')}`,
  );

  const holdWithCaps = defineStatement<keyof ReturnType<typeof holdValues> | 'caps' | 'ignoresBalance'>(
    dialect,
    `with account as materialized (
       select posted - held as available from ${accounts} where account = @account for update
     ), ${capSql.hold.replace('@isNew', isNew)}, held as (
       update ${accounts} set held = held + cast(@amount as bigint) from granted where account = @account
     ), ${insertHold('granted')}`,
  );

  const known = defineStatement<'key'>(dialect, toKnownHoldText(names));

  const look = defineStatement<'account' | 'capId' | 'now'>(
    dialect,
    `select
       (select posted - held from ${accounts} where account = @account) as available,
       (select charged + held from ${caps} where id = @capId) as used,
       exists (
         select 1 from ${holds} where counted and expires_at <= @now and (account = @account or cap_id = @capId)
       ) as lapsed`,
  );

  const lookAtCaps = defineStatement<'caps' | 'now'>(
    dialect,
    `select c.id, charged as spent, held as reserved,
       exists (select 1 from ${holds} where counted and expires_at <= @now) as lapsed
     from jsonb_to_recordset(cast(@caps as jsonb)) as one(id text) join ${caps} c on c.id = one.id`,
  );

  const open = defineStatement<'account' | 'caps'>(
    dialect,
    `with account as (
       insert into ${accounts} (account, posted, held) values (@account, 0, 0) on conflict do nothing
     )
     insert into ${caps} (id, charged, held)
     select id, 0, 0 from jsonb_to_recordset(cast(@caps as jsonb)) as one(id text) order by id
     on conflict do nothing`,
  );

  const settle = defineStatement<SettledValue>(
    dialect,
    `with ${toSettlementText(names, '1 = 1')} select 1 from charge`,
  );

  const release = defineStatement<'id'>(
    dialect,
    `with hold as (
       delete from ${holds} where id = @id and account = (select account from ${charges} where id = @id)
       returning id, account, cap_id, counted, case when counted then amount else 0 end as freed
     ), account as (
       update ${accounts} a set held = a.held - hold.freed from hold where a.account = hold.account returning 1
     ), ${capSql.release}
     select 1 from hold`,
  );

  const lapse = defineStatement<'account' | 'capId' | 'now'>(
    dialect,
    `with due as materialized (
       select account, id from ${holds}
       where counted and expires_at <= @now
         and (cast(@account as text) is null or account = @account or cap_id = @capId)
       order by account, id limit 1000 for update
     ), hold as (
       update ${holds} h set counted = false from due where h.account = due.account and h.id = due.id
       returning h.id, h.account, h.cap_id, h.amount
     ), account as (
       update ${accounts} a set held = a.held - freed.amount
       from (select account, cast(sum(amount) as bigint) as amount from hold group by account) freed
       where a.account = freed.account returning 1
     ), ${capSql.lapse}
     select count(*) as lapsed from hold`,
  );

  const grant = defineStatement<'account' | 'amount' | 'key' | 'reason' | 'now'>(
    dialect,
    `with entry as (
       insert into ${entries} (account, kind, amount, key, reason, created_at)
       select @account, 'grant', cast(@amount as bigint), @key, @reason, cast(@now as bigint)
       where not exists (select 1 from ${names.table('ledgerMoves')} where account = @account and key = @key)
       on conflict (account, key) where kind = 'grant' do nothing
       returning account, amount
     ), account as (
       insert into ${accounts} as a (account, posted, held) select account, amount, 0 from entry
       on conflict (account) do update set posted = a.posted + excluded.posted
     )
     select 1 from entry`,
  );

  const hasFurtherCaps = ({ caps: further = [], ignoresBalance }: NewHold): boolean =>
    further.length > 0 || ignoresBalance === true;

  const toHoldStatement = (request: NewHold): SqlStatement => {
    const values = holdValues(request);
    if (hasFurtherCaps(request)) {
      const ignoresBalance = request.ignoresBalance === true;
      return holdWithCaps({ ...values, caps: toCapsJson(request), ignoresBalance });
    }
    return request.cap === undefined ? hold(values) : holdWithCap(values);
  };

  const tryOne = async (request: NewHold, options: CallOptions | undefined): Promise<boolean> => {
    try {
      return (
        (await run({ ...toHoldStatement(request), row: toAccountRow(request.account) }, options)).length === 1
      );
    } catch (error) {
      // A concurrent call with the same key won: this one has no effect.
      if (isUniqueViolation(error)) return false;
      throw error;
    }
  };

  const groups = createLedgerGroups(database, {
    hold: tryOne,
    async settle({ account, usage, ...settlement }, options) {
      const values = { ...settlement, usage: toText(usage), tokens: countTokens(usage) };
      return (await run({ ...settle(values), row: toAccountRow(account) }, options)).length === 1;
    },
  });

  /** @returns false for a known key or insufficient credit. */
  const tryHold = (request: NewHold, options: CallOptions | undefined): Promise<boolean> =>
    request.cap === undefined && !hasFurtherCaps(request)
      ? groups.hold(request, options)
      : tryOne(request, options);

  const writes: LedgerWrites = {
    async hold(request, options) {
      const { account, amount, cap, caps: further = [], expiresAt, id, key, now } = request;
      const all = toCapsJson(request);
      for (;;) {
        if (await tryHold(request, options)) {
          return { outcome: 'held', hold: { id, account, amount, expiresAt } };
        }
        const [before] = await run(known({ key }), options);
        if (before !== undefined) return { outcome: 'held', hold: toHold(before) };
        const [row = {}] = await run(look({ account, capId: cap?.id, now }), options);
        const capRows = further.length === 0 ? [] : await run(lookAtCaps({ caps: all, now }), options);
        const standing = { ...toStanding(row), caps: toCapUsages(capRows) };
        const isCapMissing =
          (cap !== undefined && standing.used === undefined) ||
          further.some(({ id: capId }) => !standing.caps.has(capId));
        if (standing.available === undefined || isCapMissing) {
          await run(open({ account, caps: all }), options);
        } else if (row.lapsed === true || capRows.some(({ lapsed }) => lapsed === true)) {
          const scope = further.length > 0 ? {} : { account, capId: cap?.id };
          await writes.lapse(scope, now, options);
        } else {
          const refusal = toErrorResponse(request, standing);
          if (refusal !== undefined) return refusal;
        }
      }
    },
    settle: ({ id, account }, actual, usage, now) => groups.settle({ id, account, actual, usage, now }),
    async release({ id, account }) {
      return (await run({ ...release({ id }), row: toAccountRow(account) })).length === 1;
    },
    async grant(entry, options) {
      return (await run(grant({ ...entry }), options)).length === 1;
    },
    async lapse(scope, now, options) {
      const [row] = await run(lapse({ ...scope, now }), options);
      return toNumber(row?.lapsed);
    },
  };
  return writes;
}

function toStanding({ available, used }: Readonly<Record<string, unknown>>): Standing {
  return {
    available: available === null ? undefined : toNumber(available),
    used: used === null ? undefined : toNumber(used),
  };
}

function toCapUsages(rows: readonly SqlRow[]): ReadonlyMap<string, CapUsage> {
  return new Map(
    rows.map(({ id, spent, reserved }) => [
      String(id),
      { spent: toNumber(spent), reserved: toNumber(reserved) },
    ]),
  );
}
