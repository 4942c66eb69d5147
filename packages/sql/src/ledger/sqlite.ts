import type { RunNow, SqliteDatabase } from '../database.ts';
import { defineStatement, type SqlRow, toNumber } from '../statement.ts';
import { toHold } from './rows.ts';
import { holdValues, type LapseScope, type LedgerWrites, refusalOf } from './writes.ts';

/** Each write is one transaction that has the file for itself, from its first look to its last change. */
export function createSqliteWrites({ dialect, names, immediate }: SqliteDatabase): LedgerWrites {
  const accounts = names.table('ledgerAccounts');
  const caps = names.table('ledgerCaps');
  const holds = names.table('ledgerHolds');
  const charges = names.table('ledgerCharges');
  const entries = names.table('ledgerEntries');

  const known = defineStatement<'key'>(
    dialect,
    `select c.id, c.account, c.reserved, coalesce(h.expires_at, c.expires_at) as expires_at
     from ${charges} c left join ${holds} h on h.account = c.account and h.id = c.id
     where c.key = @key and c.kind = 'hold'`,
  );
  const look = defineStatement<'account' | 'capId'>(
    dialect,
    `select
       (select posted - held from ${accounts} where account = @account) as available,
       (select charged + held from ${caps} where id = @capId) as used`,
  );
  const insertCharge = defineStatement<keyof ReturnType<typeof holdValues>>(
    dialect,
    `insert into ${charges} (id, kind, key, account, reserved, expires_at, charged, cap_id,
       operation, model, key_id, user_id, request_id, created_at)
     values (@id, 'hold', @key, @account, @amount, @expiresAt, 0, @capId,
       @operation, @model, @keyId, @userId, @requestId, @now)`,
  );
  const insertHold = defineStatement<keyof ReturnType<typeof holdValues>>(
    dialect,
    `insert into ${holds} (account, id, amount, expires_at, cap_id, counted)
     values (@account, @id, @amount, @expiresAt, @capId, 1)`,
  );
  const moveAccount = defineStatement<'account' | 'posted' | 'held'>(
    dialect,
    `update ${accounts} set posted = posted + @posted, held = held + @held where account = @account`,
  );
  const openAccount = defineStatement<'account'>(
    dialect,
    `insert into ${accounts} (account, posted, held) values (@account, 0, 0) on conflict do nothing`,
  );
  const moveCap = defineStatement<'capId' | 'charged' | 'held'>(
    dialect,
    `update ${caps} set charged = charged + @charged, held = held + @held where id = @capId`,
  );
  const openCap = defineStatement<'capId'>(
    dialect,
    `insert into ${caps} (id, charged, held) values (@capId, 0, 0) on conflict do nothing`,
  );
  const endHold = defineStatement<'id'>(
    dialect,
    `delete from ${holds} where id = @id and account = (select account from ${charges} where id = @id)
     returning account, cap_id, case when counted then amount else 0 end as freed`,
  );
  const settle = defineStatement<'id' | 'actual' | 'usage' | 'now'>(
    dialect,
    `update ${charges} set settled_at = @now, charged = @actual, usage = @usage
     where id = @id and kind = 'hold' and settled_at is null
     returning account, key, operation, cap_id`,
  );
  const lapse = defineStatement<'account' | 'capId' | 'now'>(
    dialect,
    `update ${holds} set counted = 0
     where rowid in (
       select rowid from ${holds} where counted and expires_at <= @now
         and (@account is null or account = @account or cap_id = @capId)
       limit 1000)
     returning account, cap_id, amount as freed`,
  );
  const insertEntry = defineStatement<'account' | 'kind' | 'amount' | 'key' | 'reason' | 'now'>(
    dialect,
    `insert into ${entries} (account, kind, amount, key, reason, created_at)
     values (@account, @kind, @amount, @key, @reason, @now)
     on conflict (account, key) where kind = 'grant' do nothing
     returning sequence`,
  );

  /** Takes a hold out of the sums and what it cost into them. */
  const close = (run: RunNow, account: string, capId: unknown, freed: number, charged: number): void => {
    run(moveAccount({ account, posted: -charged, held: -freed }));
    if (capId !== null) run(moveCap({ capId: String(capId), charged, held: -freed }));
  };

  const freedBy = (ended: SqlRow | undefined): number => (ended === undefined ? 0 : toNumber(ended.freed));

  const lapseNow = (run: RunNow, scope: LapseScope, now: number): number => {
    const rows = run(lapse({ ...scope, now }));
    for (const row of rows) close(run, String(row.account), row.cap_id, freedBy(row), 0);
    return rows.length;
  };

  return {
    hold: (request, options) =>
      immediate((run) => {
        const { account, amount, cap, expiresAt, id, key, now } = request;
        const [before] = run(known({ key }));
        if (before !== undefined) return { outcome: 'held', hold: toHold(before) };
        for (;;) {
          const [row = {}] = run(look({ account, capId: cap?.id }));
          const standing = { available: toNumber(row.available ?? 0), used: toNumber(row.used ?? 0) };
          const refusal = refusalOf(request, standing);
          if (refusal === undefined) break;
          if (lapseNow(run, { account, capId: cap?.id }, now) === 0) return refusal;
        }
        const values = holdValues(request);
        run(insertCharge(values));
        run(insertHold(values));
        run(openAccount({ account }));
        run(moveAccount({ account, posted: 0, held: amount }));
        if (cap !== undefined) {
          run(openCap({ capId: cap.id }));
          run(moveCap({ capId: cap.id, charged: 0, held: amount }));
        }
        return { outcome: 'held', hold: { id, account, amount, expiresAt } };
      }, options),

    settle: ({ id }, actual, usage, now) =>
      immediate((run) => {
        const [charge] = run(settle({ id, actual, usage, now }));
        if (charge === undefined) return false;
        const account = String(charge.account);
        const [ended] = run(endHold({ id }));
        close(run, account, charge.cap_id, freedBy(ended), actual);
        if (actual > 0) {
          const key = String(charge.key);
          const reason = String(charge.operation);
          run(insertEntry({ account, kind: 'charge', amount: -actual, key, reason, now }));
        }
        return true;
      }),

    release: ({ id }) =>
      immediate((run) => {
        const [ended] = run(endHold({ id }));
        if (ended !== undefined) close(run, String(ended.account), ended.cap_id, freedBy(ended), 0);
        return ended !== undefined;
      }),

    grant: ({ account, amount, key, reason, now }, options) =>
      immediate((run) => {
        if (run(insertEntry({ account, kind: 'grant', amount, key, reason, now })).length === 0) return false;
        run(openAccount({ account }));
        run(moveAccount({ account, posted: amount, held: 0 }));
        return true;
      }, options),

    lapse: (scope, now, options) => immediate((run) => lapseNow(run, scope, now), options),
  };
}
