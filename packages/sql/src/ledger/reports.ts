import type {
  CallOptions,
  ChargeFilter,
  CreditLedger,
  ExportedEntry,
  Usage,
  UsageDimension,
  UsageSum,
} from '@questline/core/ports';
import { getRead, type PostgresDatabase, type SqlDatabase } from '../database.ts';
import { defineStatement, type SqlRow, toNumber } from '../statement.ts';
import { fromJson } from '../store/json.ts';
import { toEntry } from './rows.ts';
import { toUnitText, UNIT_COLUMNS, UNITS } from './units.ts';

const DAY_MS = 86_400_000;
/** Length of `organization:`, plus 1. */
const ORGANIZATION_ID_AT = 14;

const GROUPS: Readonly<Record<UsageDimension, string>> = {
  day: `c.created_at - c.created_at % ${DAY_MS}`,
  model: 'c.model',
  operation: 'c.operation',
  key: 'c.key_id',
  user: 'c.user_id',
  organization: `case when c.account like 'organization:%' then substr(c.account, ${ORGANIZATION_ID_AT}) end`,
};

/** Entries that get their position in one transaction. */
const BATCH = 1000;

/** The calls for reports and exports. */
export function createReports(
  database: SqlDatabase,
  filterText: (filter: ChargeFilter, from?: string) => string,
): Required<Pick<CreditLedger, 'sumCharges' | 'exportEntries'>> {
  const { dialect, names, run } = database;
  const read = getRead(database);
  const isSqlite = dialect === 'sqlite';
  const charges = names.table('ledgerCharges');
  const entries = names.table('ledgerEntries');
  const archived = names.table('ledgerArchivedHours');
  const position = isSqlite ? 'e.sequence' : 'e.position';
  // Text: units such as seconds are not whole.
  const sumOf = (unit: keyof Usage) => {
    const sum = `sum(${UNIT_COLUMNS[unit]})`;
    return `${isSqlite ? sum : `cast(${sum} as text)`} as "${unit}"`;
  };
  /** The settled charges with their units, and the sums of archived ones in the same columns. */
  const toCallsText = (filter: ChargeFilter) =>
    `select account, created_at, user_id, key_id, model, operation, 1 as requests, charged,
       ${UNITS.map((unit) => `${toUnitText(isSqlite, 'usage', unit)} as ${UNIT_COLUMNS[unit]}`).join(', ')}
     from ${charges} c
     where created_at >= @from and created_at < @to and settled_at is not null${filterText(filter)}
     union all
     select account, hour, nullif(user_id, ''), nullif(key_id, ''), nullif(model, ''), operation, requests, charged,
       ${UNITS.map((unit) => UNIT_COLUMNS[unit]).join(', ')}
     from ${archived} a where hour >= @from and hour < @to${filterText(filter, 'a')}`;

  const list = (account: string | undefined) =>
    defineStatement<'account' | 'after' | 'limit'>(
      dialect,
      `select e.*, ${position} as place, c.operation, c.model, c.key_id, c.user_id, c.request_id,
         cast(c.usage as text) as usage_text
       from ${entries} e left join ${charges} c on e.kind = 'charge' and c.kind = 'hold' and c.key = e.key
       where ${position} > @after${account === undefined ? '' : ' and e.account = @account'}
       order by ${position} limit @limit`,
    );

  return {
    async sumCharges({ filter, from, to, groupBy, limit }, options) {
      const groups = groupBy.map((dimension) => `${GROUPS[dimension]} as by_${dimension}`);
      const order = groupBy.map((_, at) => `${at + 1} nulls first`).join(', ');
      const statement = defineStatement<'account' | 'keyId' | 'userId' | 'from' | 'to' | 'limit'>(
        dialect,
        `select ${[...groups, 'sum(c.requests) as requests', 'sum(c.charged) as amount', ...UNITS.map(sumOf)].join(', ')}
         from (${toCallsText(filter)}) c
         ${groupBy.length === 0 ? 'having count(*) > 0' : `group by ${groupBy.map((_, at) => at + 1).join(', ')}`}
         ${groupBy.length === 0 ? '' : `order by ${order}`} limit @limit`,
      );
      const rows = await read(statement({ ...filter, from, to, limit }), options);
      return rows.map((row) => toSum(row, groupBy));
    },

    async exportEntries({ account, after, limit }, options) {
      // Without a name: PostgreSQL plans it for its limit. Its plan for any limit reads ahead in parallel.
      const { sql, parameters } = list(account)({ account, after, limit });
      for (let isComplete = isSqlite; ; ) {
        const rows = await run({ sql, parameters }, options);
        if (rows.length === limit || isComplete) return rows.map(toExportedEntry);
        // Read again even if none was without: another reader may have assigned theirs after this read.
        isComplete = (await assignPositions(database as PostgresDatabase, account, options)) < BATCH;
      }
    },
  };
}

/**
 * Sequence numbers are taken before the commit, so on PostgreSQL a lower one can become visible after a higher one. A
 * reader that continues after the higher one would miss it. So committed entries get their position here, in
 * transactions that exclude each other: a position becomes visible after all lower ones.
 * @returns the number of entries that got one; 0 if none was without.
 */
async function assignPositions(
  { dialect, names, transaction }: PostgresDatabase,
  account: string | undefined,
  options: CallOptions | undefined,
): Promise<number> {
  const entries = names.table('ledgerEntries');
  const lock = defineStatement<'name'>(dialect, 'select pg_advisory_xact_lock(hashtextextended(@name, 0))');
  const assign = defineStatement<'account' | 'limit'>(
    dialect,
    `with due as (
       select account, sequence, row_number() over (order by sequence) as number from (
         select account, sequence from ${entries}
         where position is null${account === undefined ? '' : ' and account = @account'}
         order by sequence limit @limit
       ) oldest
     ), last as (
       select coalesce(max(position), 0) as position from ${entries} where position is not null
     )
     update ${entries} e set position = last.position + due.number
     from due, last where e.account = due.account and e.sequence = due.sequence
     returning 1 as assigned`,
  );
  return transaction(
    async (connection) => {
      await connection.run(lock({ name: `${names.schema ?? ''} ${names.prefix}ledger_positions` }));
      return (await connection.run(assign({ account, limit: BATCH }))).length;
    },
    // The lock comes before the first read, so each statement needs a new snapshot.
    { ...options, isolation: 'read committed' },
  );
}

function toExportedEntry(row: SqlRow): ExportedEntry {
  const { model, key_id: keyId, user_id: userId, request_id: requestId } = row;
  return {
    ...toEntry(row),
    position: toNumber(row.place),
    ...(row.operation !== null && {
      details: {
        operation: String(row.operation),
        ...(model !== null && { model: String(model) }),
        ...(keyId !== null && { keyId: String(keyId) }),
        ...(userId !== null && { userId: String(userId) }),
        ...(requestId !== null && { requestId: String(requestId) }),
      },
    }),
    ...(row.usage_text !== null && { usage: fromJson<Usage>(row.usage_text) }),
  };
}

function toSum(row: SqlRow, groupBy: readonly UsageDimension[]): UsageSum {
  const group = groupBy.map((dimension) => {
    const value = row[`by_${dimension}`];
    if (value === null) return [dimension, null];
    return [dimension, dimension === 'day' ? toNumber(value) : String(value)];
  });
  const usage = UNITS.flatMap((unit) => (row[unit] === null ? [] : [[unit, Number(row[unit])]]));
  return {
    group: Object.fromEntries(group),
    requests: toNumber(row.requests),
    amount: toNumber(row.amount),
    usage: Object.fromEntries(usage),
  };
}
