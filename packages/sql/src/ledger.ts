import { assertAccount, assertHoldCaps } from '@questline/core/internal';
import type { CallOptions, ChargeFilter, Clock, CreditLedger, Hold, Ids } from '@questline/core/ports';
import { getRead, type SqlDatabase } from './database.ts';
import { createChargeArchive } from './ledger/archive.ts';
import { createRestore, toEndedHoldText, toIsNewText } from './ledger/archived-keys.ts';
import { HOUR_MS } from './ledger/hours-tables.ts';
import { createPostgresWrites } from './ledger/postgres.ts';
import { createToSettlement } from './ledger/postgres-settlement.ts';
import { createReports } from './ledger/reports.ts';
import { entrySequence, toCharge, toEntry } from './ledger/rows.ts';
import { createSqliteWrites } from './ledger/sqlite.ts';
import { toText } from './ledger/writes.ts';
import { defineStatement, toNumber } from './statement.ts';
import { isCheckViolation } from './violations.ts';

export interface SqlLedgerOptions {
  /** The clock for the expiry of holds. */
  readonly clock: Clock;
  readonly ids: Ids;
}

/** The credit ledger in tables. Running sums are exact: a hold never succeeds without enough credit. */
export function createSqlLedger(database: SqlDatabase, { clock, ids }: SqlLedgerOptions): CreditLedger {
  const { dialect, names, run } = database;
  const read = getRead(database);
  const writes =
    database.dialect === 'sqlite' ? createSqliteWrites(database) : createPostgresWrites(database);
  const accounts = names.table('ledgerAccounts');
  const caps = names.table('ledgerCaps');
  const holds = names.table('ledgerHolds');
  const charges = names.table('ledgerCharges');
  const hours = names.table('ledgerHours');
  const entries = names.table('ledgerEntries');
  const holdCaps = names.table('ledgerHoldCaps');
  const json = (parameter: string) => (dialect === 'sqlite' ? parameter : `cast(${parameter} as jsonb)`);

  // Subtracts expired holds that a sum still contains.
  const lapsedSum = (column: string, parameter: string) =>
    `coalesce((select cast(sum(amount) as bigint) from ${holds}
       where ${column} = ${parameter} and counted and expires_at <= @now), 0)`;
  const balance = defineStatement<'account' | 'now'>(
    dialect,
    `select posted, held - ${lapsedSum('account', '@account')} as held from ${accounts} where account = @account`,
  );
  const capUsed = defineStatement<'capId' | 'now'>(
    dialect,
    `select charged + held - ${lapsedSum('cap_id', '@capId')} as used from ${caps} where id = @capId`,
  );
  const listed =
    dialect === 'sqlite'
      ? 'select value as id from json_each(@ids)'
      : 'select jsonb_array_elements_text(cast(@ids as jsonb)) as id';
  const expired = (from: string, amount: string, column: string) =>
    `coalesce((select cast(sum(${amount}) as bigint) from ${from}
       where ${column} = listed.id and h.counted and h.expires_at <= @now), 0)`;
  const capUsage = defineStatement<'ids' | 'now'>(
    dialect,
    `select listed.id, coalesce(c.charged, 0) as spent,
       coalesce(c.held, 0) - ${expired(`${holds} h`, 'h.amount', 'h.cap_id')}
         - ${expired(`${holds} h join ${holdCaps} hc on hc.hold_id = h.id`, 'hc.amount', 'hc.cap_id')} as reserved
     from (${listed}) listed ${
       // One look-up per cap, however many caps there are.
       dialect === 'sqlite'
         ? `left join ${caps} c on c.id = listed.id`
         : `left join lateral (select charged, held from ${caps} where id = listed.id limit 1) c on true`
     }`,
  );
  const renew = defineStatement<'id' | 'expiresAt' | 'now'>(
    dialect,
    `update ${holds} set expires_at = @expiresAt
     where id = @id and account = (select account from ${charges} where id = @id)
       and counted and expires_at > @now
     returning id`,
  );
  // PostgreSQL skips rows that another statement changes: a settlement ends its hold, and a beat must not wait for it.
  const renewAll = defineStatement<'holds' | 'expiresAt' | 'now'>(
    dialect,
    `update ${holds} set expires_at = @expiresAt where (account, id) in (${
      dialect === 'sqlite'
        ? `select h.account, h.id from json_each(@holds) listed join ${holds} h
             on h.account = listed.value ->> 0 and h.id = listed.value ->> 1
           where h.counted and h.expires_at > @now`
        : `select h.account, h.id from jsonb_array_elements(cast(@holds as jsonb)) listed join ${holds} h
             on h.account = listed.value ->> 0 and h.id = listed.value ->> 1
           where h.counted and h.expires_at > @now
           for update of h skip locked`
    }) returning id`,
  );
  const readEnded = defineStatement<'id'>(dialect, toEndedHoldText(names));
  const restore = createRestore(database);
  const record = defineStatement<
    'id' | 'key' | 'account' | 'operation' | 'model' | 'keyId' | 'userId' | 'requestId' | 'usage' | 'now'
  >(
    dialect,
    `insert into ${charges} (id, kind, key, account, reserved, expires_at, charged, settled_at,
       operation, model, key_id, user_id, request_id, usage, created_at)
     select @id, 'record', @key, @account, 0, cast(@now as bigint), 0, cast(@now as bigint),
       @operation, @model, @keyId, @userId, @requestId, ${json('@usage')}, cast(@now as bigint)
     where ${toIsNewText(names, 'record')}
     on conflict do nothing`,
  );
  const listEntries = defineStatement<'account' | 'before' | 'limit'>(
    dialect,
    `select * from ${entries} where account = @account and sequence < @before order by sequence desc limit @limit`,
  );
  const retire = defineStatement(
    dialect,
    `delete from ${holds} where not counted and (account, id) in (
       select account, id from ${holds} where not counted limit 1000
     ) returning id`,
  );

  /** Only the given filters become conditions, so that each combination uses its index. */
  const filterText = ({ account, keyId, userId }: ChargeFilter, from = 'c'): string =>
    [
      account !== undefined && `${from}.account = @account`,
      keyId !== undefined && `${from}.key_id = @keyId`,
      userId !== undefined && `${from}.user_id = @userId`,
    ]
      .map((condition) => (condition === false ? '' : ` and ${condition}`))
      .join('');

  /** @throws Error for an unknown hold. */
  const findEnded = async ({ id }: Hold) => {
    const [row] = await run(readEnded({ id }));
    if (row === undefined) throw new Error('the hold is unknown');
    const { charged, can_settle, is_archived } = row;
    return { charged: toNumber(charged), canSettle: Boolean(can_settle), isArchived: Boolean(is_archived) };
  };

  const sweep = async (options: CallOptions | undefined): Promise<number> => {
    while ((await writes.lapse({}, clock.now(), options)) > 0);
    let swept = 0;
    for (;;) {
      const { length } = await run(retire({}), options);
      swept += length;
      if (length === 0) return swept;
    }
  };

  return {
    async balance(account, options) {
      const [row] = await run(balance({ account, now: clock.now() }), options);
      if (row === undefined) return { posted: 0, held: 0, available: 0 };
      const posted = toNumber(row.posted);
      const held = toNumber(row.held);
      return { posted, held, available: posted - held };
    },

    async hold(request, options) {
      assertAmount(request.amount, 0);
      assertHoldCaps(request);
      return inRange(writes.hold({ ...request, id: ids.next(), now: clock.now() }, options));
    },

    async renew(hold, expiresAt, options) {
      const renewed = await run(renew({ id: hold.id, expiresAt, now: clock.now() }), options);
      if (renewed.length === 0) await findEnded(hold);
      return renewed.length === 1;
    },

    async renewAll(open, expiresAt, options) {
      const listed = JSON.stringify(open.map(({ account, id }) => [account, id]));
      const { length } = await run(renewAll({ holds: listed, expiresAt, now: clock.now() }), options);
      return length;
    },

    async settle(hold, actual, usage) {
      assertAmount(actual, 0);
      for (;;) {
        const first = await inRange(writes.settle(hold, actual, usage, clock.now()));
        if (first) return { charged: actual, first };
        const { charged, canSettle, isArchived } = await findEnded(hold);
        if (!canSettle) return { charged, first };
        if (isArchived) await restore(hold.id);
      }
    },

    ...(database.dialect === 'postgres' && { toSettlement: createToSettlement(database, clock) }),

    async release(hold) {
      if (!(await writes.release(hold))) await findEnded(hold);
    },

    async record({ account, key, details, usage }) {
      const { operation, model, keyId, userId, requestId } = details;
      const about = { operation, model, keyId, userId, requestId, usage: toText(usage) };
      await run(record({ id: ids.next(), key, account, ...about, now: clock.now() }));
    },

    async grant(grant, options) {
      assertAccount(grant.account);
      assertAmount(grant.amount, Number.MIN_SAFE_INTEGER);
      const { account, amount, key, reason } = grant;
      return inRange(writes.grant({ account, amount, key, reason, now: clock.now() }, options));
    },

    async entries(account, { limit, before }, options) {
      const place = before === undefined ? Number.MAX_SAFE_INTEGER : entrySequence(before);
      const rows = await read(listEntries({ account, before: place, limit }), options);
      return rows.map(toEntry);
    },

    async charges(filter, limit, options) {
      const list = defineStatement<'account' | 'keyId' | 'userId' | 'limit'>(
        dialect,
        `select c.*, cast(c.usage as text) as usage_text,
           (select h.expires_at from ${holds} h where h.account = c.account and h.id = c.id and h.counted) as open_until
         from ${charges} c where 1 = 1${filterText(filter)} order by c.created_at desc, c.id desc limit @limit`,
      );
      const now = clock.now();
      const rows = await read(list({ ...filter, limit }), options);
      return rows.map((row) => toCharge(row, now));
    },

    async spent(filter, since, options) {
      // Whole hours from their sums, the part of an hour before them from its charges.
      const sum = defineStatement<'account' | 'keyId' | 'userId' | 'since' | 'full'>(
        dialect,
        `select coalesce((select sum(h.charged) from ${hours} h where h.hour >= @full${filterText(filter, 'h')}), 0)
           + coalesce((select sum(c.charged) from ${charges} c
             where c.created_at >= @since and c.created_at < @full${filterText(filter)}), 0) as spent`,
      );
      const full = Math.ceil(since / HOUR_MS) * HOUR_MS;
      const [row] = await read(sum({ ...filter, since, full }), options);
      return toNumber(row?.spent);
    },

    ...createReports(database, filterText),
    ...createChargeArchive(database, clock),
    async capUsage(capIds, options) {
      const rows = await run(capUsage({ ids: JSON.stringify(capIds), now: clock.now() }), options);
      const states = new Map(
        rows.map(({ id, spent, reserved }) => [
          String(id),
          { spent: toNumber(spent), reserved: toNumber(reserved) },
        ]),
      );
      return capIds.map((id) => states.get(id) ?? { spent: 0, reserved: 0 });
    },

    async capUsed(capId, options) {
      const [row] = await run(capUsed({ capId, now: clock.now() }), options);
      return row === undefined ? 0 : toNumber(row.used);
    },

    sweep,
  };
}

/** The tables reject sums above the range of exact integers. */
async function inRange<T>(write: Promise<T>): Promise<T> {
  try {
    return await write;
  } catch (error) {
    if (!isCheckViolation(error)) throw error;
    throw new RangeError('the sum is beyond what is counted exactly', { cause: error });
  }
}

function assertAmount(amount: number, least: number): void {
  if (!Number.isSafeInteger(amount) || amount < least) {
    throw new RangeError(`${amount} is no amount of micro-credits`);
  }
}
