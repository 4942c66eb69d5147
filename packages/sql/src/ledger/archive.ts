import type { ArchivedCharge, Clock, CreditLedger } from '@questline/core/ports';
import type { SqlDatabase } from '../database.ts';
import { defineStatement, type SqlRow, toNumber } from '../statement.ts';
import { HOUR_MS } from './hours-tables.ts';
import { toCharge } from './rows.ts';
import { toUnitText, UNIT_COLUMNS, UNITS } from './units.ts';

/** Charges of one SQLite transaction: a few milliseconds. */
const SQLITE_STEP = 25;

/** The calls that move old charges. */
export function createChargeArchive(
  database: SqlDatabase,
  clock: Clock,
): Required<Pick<CreditLedger, 'archiveCharges' | 'countArchivable'>> {
  const { dialect, names, run } = database;
  const charges = names.table('ledgerCharges');
  // Open and expired holds have a row until they are settled, released or swept.
  const isArchivable = `c.created_at < @before and (c.settled_at is not null or not exists (
       select 1 from ${names.table('ledgerHolds')} h where h.account = c.account and h.id = c.id))`;
  const list = defineStatement<'before' | 'limit'>(
    dialect,
    `select c.*, cast(c.usage as text) as usage_text, null as open_until from ${charges} c
     where ${isArchivable} order by c.created_at limit @limit`,
  );
  const count = defineStatement<'before'>(
    dialect,
    `select count(*) as charges from ${charges} c where ${isArchivable}`,
  );
  const move = createMove(database);

  return {
    async archiveCharges({ before, limit }, archive, options) {
      const rows = await run(list({ before, limit }), options);
      if (rows.length === 0) return 0;
      const now = clock.now();
      await archive(rows.map((row) => toArchivedCharge(row, now)));
      return move(rows);
    },
    async countArchivable(before, options) {
      const [row] = await run(count({ before }), options);
      return toNumber(row?.charges);
    },
  };
}

/** @returns a function that moves those of the charges that have not changed since they were read. */
function createMove(database: SqlDatabase): (rows: readonly SqlRow[]) => Promise<number> {
  const { dialect, names } = database;
  const isSqlite = dialect === 'sqlite';
  const charges = names.table('ledgerCharges');
  const keys = names.table('ledgerArchivedKeys');
  const hours = names.table('ledgerArchivedHours');
  const columns = Object.values(UNIT_COLUMNS).join(', ');
  const released = ['capId', 'operation', 'model', 'keyId', 'userId', 'requestId', 'createdAt'];
  const releasedColumns = ['cap_id', 'operation', 'model', 'key_id', 'user_id', 'request_id', 'created_at'];
  const object = released.map((name, at) => `'${name}', ${releasedColumns[at]}`).join(', ');

  // An older version, which does not know archived keys, may have charged one again.
  const insertKeys = (from: string) => `insert into ${keys}
       (key, kind, id, account, reserved, expires_at, charged, released)
     select key, kind, case when kind = 'hold' then id end, account, reserved, expires_at, charged,
       case when settled_at is null then ${isSqlite ? 'json_object' : 'jsonb_build_object'}(${object}) end
     from ${from}
     on conflict (key, kind) do nothing`;
  // Sorted, so that two such statements lock the rows in the same order.
  const addToHours = (from: string) => `insert into ${hours} as kept
       (hour, account, user_id, key_id, model, operation, requests, charged, ${columns})
     select created_at - created_at % ${HOUR_MS}, account, coalesce(user_id, ''), coalesce(key_id, ''),
       coalesce(model, ''), operation, count(*), sum(charged),
       ${UNITS.map((unit) => `sum(${toUnitText(isSqlite, 'usage', unit)})`).join(', ')}
     from ${from} where settled_at is not null group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6
     on conflict (hour, account, user_id, key_id, model, operation) do update set
       requests = kept.requests + excluded.requests, charged = kept.charged + excluded.charged,
       ${Object.values(UNIT_COLUMNS)
         .map(
           (column) =>
             `${column} = coalesce(kept.${column} + excluded.${column}, kept.${column}, excluded.${column})`,
         )
         .join(', ')}`;

  const toJson = (rows: readonly SqlRow[]) =>
    JSON.stringify(rows.map(({ id, settled_at }) => [id, settled_at === null ? null : toNumber(settled_at)]));

  if (database.dialect === 'postgres') {
    // Skips what another statement settles or moves, and waits for none.
    const statement = defineStatement<'charges'>(
      dialect,
      `with found as materialized (
         select locked.at from jsonb_array_elements(cast(@charges as jsonb)) listed cross join lateral (
           select c.ctid as at from ${charges} c
           where c.id = listed ->> 0 and c.settled_at is not distinct from cast(listed ->> 1 as bigint)
           limit 1 for update skip locked
         ) locked
       ), moved as materialized (
         delete from ${charges} where ctid = any (array(select at from found)) returning *
       ), kept as (${insertKeys('moved')}), added as (${addToHours('moved')})
       select count(*) as moved from moved`,
    );
    return async (rows) => {
      const [row] = await database.run(statement({ charges: toJson(rows) }));
      return toNumber(row?.moved);
    };
  }

  const listed = `${charges} where id in (
       select c.id from json_each(@charges) listed join ${charges} c on c.id = listed.value ->> 0
       where c.settled_at is listed.value ->> 1)`;
  const keepKeys = defineStatement<'charges'>(dialect, insertKeys(listed));
  const keepSums = defineStatement<'charges'>(dialect, addToHours(`(select * from ${listed})`));
  const remove = defineStatement<'charges'>(dialect, `delete from ${listed} returning 1 as moved`);
  return async (rows) => {
    let moved = 0;
    for (let at = 0; at < rows.length; at += SQLITE_STEP) {
      const step = { charges: toJson(rows.slice(at, at + SQLITE_STEP)) };
      moved += await database.immediate((runNow) => {
        runNow(keepKeys(step));
        runNow(keepSums(step));
        return runNow(remove(step)).length;
      });
    }
    return moved;
  };
}

function toArchivedCharge(row: SqlRow, now: number): ArchivedCharge {
  return {
    ...toCharge(row, now),
    kind: row.kind === 'record' ? 'record' : 'hold',
    key: String(row.key),
    ...(row.settled_at !== null && { settledAt: toNumber(row.settled_at) }),
  };
}
