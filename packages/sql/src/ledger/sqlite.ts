import { getSettledAmount } from '@questline/core/internal';
import type { CapUnit, CapUsage, Usage } from '@questline/core/ports';
import type { RunNow, SqliteDatabase } from '../database.ts';
import { defineStatement, type SqlRow, toNumber } from '../statement.ts';
import { toKnownHoldText } from './archived-keys.ts';
import { toHold } from './rows.ts';
import { holdValues, type LapseScope, type LedgerWrites, toErrorResponse, toText } from './writes.ts';

/** Each write is one transaction with an exclusive lock from its first read to its last write. */
export function createSqliteWrites({ dialect, names, immediate }: SqliteDatabase): LedgerWrites {
  const accounts = names.table('ledgerAccounts');
  const caps = names.table('ledgerCaps');
  const holds = names.table('ledgerHolds');
  const charges = names.table('ledgerCharges');
  const entries = names.table('ledgerEntries');
  const moves = names.table('ledgerMoves');
  const holdCaps = names.table('ledgerHoldCaps');

  const known = defineStatement<'key'>(dialect, toKnownHoldText(names));
  const look = defineStatement<'account' | 'capId'>(
    dialect,
    `select
       (select posted - held from ${accounts} where account = @account) as available,
       (select charged + held from ${caps} where id = @capId) as used`,
  );
  const lookAtCap = defineStatement<'capId'>(
    dialect,
    `select charged as spent, held as reserved from ${caps} where id = @capId`,
  );
  const insertHoldCap = defineStatement<'id' | 'capId' | 'unit' | 'amount'>(
    dialect,
    `insert into ${holdCaps} (hold_id, cap_id, unit, amount) values (@id, @capId, @unit, @amount)`,
  );
  const listHoldCaps = defineStatement<'id'>(
    dialect,
    `select cap_id, unit, amount from ${holdCaps} where hold_id = @id`,
  );
  const deleteHoldCaps = defineStatement<'id'>(dialect, `delete from ${holdCaps} where hold_id = @id`);
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
     returning id, account, cap_id, counted, amount`,
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
     returning id, account, cap_id, 1 as counted, amount`,
  );
  const insertEntry = defineStatement<'account' | 'kind' | 'amount' | 'key' | 'reason' | 'now'>(
    dialect,
    `insert into ${entries} (account, kind, amount, key, reason, created_at)
     select @account, @kind, @amount, @key, @reason, @now
     where @kind <> 'grant' or not exists (select 1 from ${moves} where account = @account and key = @key)
     on conflict (account, key) where kind = 'grant' do nothing
     returning sequence`,
  );

  /** Subtracts a hold from the sums, if they contain it, and adds its cost. */
  const close = (run: RunNow, { account, cap_id, counted, amount }: SqlRow, charged: number): void => {
    const freed = isTrue(counted) ? toNumber(amount) : 0;
    run(moveAccount({ account: String(account), posted: -charged, held: -freed }));
    if (cap_id !== null) run(moveCap({ capId: String(cap_id), charged, held: -freed }));
  };

  /** The same for its further caps. @param settled absent: without a charge. */
  const closeCaps = (run: RunNow, id: string, counted: unknown, settled?: Settled): void => {
    for (const row of run(listHoldCaps({ id }))) {
      const amount = toNumber(row.amount);
      const unit = String(row.unit) as CapUnit;
      const charged =
        settled === undefined ? 0 : getSettledAmount({ unit, amount }, settled.actual, settled.usage);
      run(moveCap({ capId: String(row.cap_id), charged, held: isTrue(counted) ? -amount : 0 }));
    }
  };

  const lapseNow = (run: RunNow, scope: LapseScope, now: number): number => {
    const rows = run(lapse({ ...scope, now }));
    for (const row of rows) {
      close(run, row, 0);
      closeCaps(run, String(row.id), row.counted);
    }
    return rows.length;
  };

  return {
    hold: (request, options) =>
      immediate((run) => {
        const { account, amount, cap, caps = [], expiresAt, id, key, now } = request;
        const [before] = run(known({ key }));
        if (before !== undefined) return { outcome: 'held', hold: toHold(before) };
        for (;;) {
          const [row = {}] = run(look({ account, capId: cap?.id }));
          const standing = {
            available: toNumber(row.available ?? 0),
            used: toNumber(row.used ?? 0),
            caps: new Map(
              caps.flatMap((one) =>
                run(lookAtCap({ capId: one.id })).map((state) => [one.id, toCapUsage(state)]),
              ),
            ),
          };
          const refusal = toErrorResponse(request, standing);
          if (refusal === undefined) break;
          const scope = caps.length > 0 ? {} : { account, capId: cap?.id };
          if (lapseNow(run, scope, now) === 0) return refusal;
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
        for (const { id: capId, unit, amount: reserved } of caps) {
          run(insertHoldCap({ id, capId, unit, amount: reserved }));
          run(openCap({ capId }));
          run(moveCap({ capId, charged: 0, held: reserved }));
        }
        return { outcome: 'held', hold: { id, account, amount, expiresAt } };
      }, options),

    settle: ({ id }, actual, usage, now) =>
      immediate((run) => {
        const [charge] = run(settle({ id, actual, usage: toText(usage), now }));
        if (charge === undefined) return false;
        const account = String(charge.account);
        const [ended] = run(endHold({ id }));
        const { counted = 0, amount = 0 } = ended ?? {};
        close(run, { account, cap_id: charge.cap_id, counted, amount }, actual);
        closeCaps(run, id, counted, { actual, usage });
        run(deleteHoldCaps({ id }));
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
        if (ended === undefined) return false;
        close(run, ended, 0);
        closeCaps(run, id, ended.counted);
        return true;
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

/** How a hold is settled. */
interface Settled {
  readonly actual: number;
  readonly usage: Usage | undefined;
}

function isTrue(value: unknown): boolean {
  return Number(value) === 1;
}

function toCapUsage({ spent, reserved }: SqlRow): CapUsage {
  return { spent: toNumber(spent), reserved: toNumber(reserved) };
}
