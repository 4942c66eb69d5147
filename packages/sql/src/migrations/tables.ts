import type { SqlConnection, SqlDatabase, SqlDialect } from '../database.ts';
import { EVENT_LOG_TABLES } from '../event-log/tables.ts';
import { LEDGER_ARCHIVE } from '../ledger/archive-tables.ts';
import { LEDGER_HOURS } from '../ledger/hours-tables.ts';
import { LEDGER_MOVES } from '../ledger/moves-tables.ts';
import { LEDGER_REPORTS } from '../ledger/report-tables.ts';
import { LEDGER_HOLD_CAPS, LEDGER_TABLES } from '../ledger/tables.ts';
import { LIMITER_TABLES } from '../limiter/tables.ts';
import type { SqlNames } from '../names.ts';
import { QUEUE_OWNERS, QUEUE_TABLES } from '../queue/tables.ts';
import { PGVECTOR, VECTOR_LAKE_WORDS, VECTOR_TABLES } from '../vectors/tables.ts';

/** A step for the tables that are not collections. Numbered, in order; a published step never changes. */
export interface TableStep {
  readonly name: string;
  statements(dialect: SqlDialect, names: SqlNames): readonly string[];
  /** False: skip it now; the next migration checks again. Default: always. */
  applies?(database: SqlDatabase, connection: SqlConnection): Promise<boolean>;
}

/** The table of recorded steps. */
export const MIGRATIONS = 'migrations';

/** Idempotent. */
export function createMigrations(dialect: SqlDialect, names: SqlNames): readonly string[] {
  const time = dialect === 'sqlite' ? 'text' : 'timestamptz';
  return [
    `create table if not exists ${names.table(MIGRATIONS)} (name text not null primary key, ` +
      `applied_at ${time} not null default current_timestamp, statements text not null)`,
  ];
}

export const TABLE_STEPS: readonly TableStep[] = [
  { name: '0001 migrations', statements: createMigrations },
  LEDGER_TABLES,
  LIMITER_TABLES,
  QUEUE_TABLES,
  VECTOR_TABLES,
  PGVECTOR,
  QUEUE_OWNERS,
  LEDGER_HOLD_CAPS,
  LEDGER_REPORTS,
  EVENT_LOG_TABLES,
  LEDGER_HOURS,
  VECTOR_LAKE_WORDS,
  LEDGER_ARCHIVE,
  LEDGER_MOVES,
];

/** Names that no collection may have. */
export const OWN_TABLES: readonly string[] = [
  MIGRATIONS,
  'ledgerAccounts',
  'ledgerCaps',
  'ledgerHolds',
  'ledgerCharges',
  'ledgerEntries',
  'ledgerHoldCaps',
  'ledgerHours',
  'ledgerArchivedHours',
  'ledgerArchivedKeys',
  'ledgerMoves',
  'rateWindows',
  'jobs',
  'vectorChunks',
  'vectorWords',
  'eventBatches',
];
