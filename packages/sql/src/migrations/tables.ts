import type { SqlConnection, SqlDatabase, SqlDialect } from '../database.ts';
import { LEDGER_TABLES } from '../ledger/tables.ts';
import { LIMITER_TABLES } from '../limiter/tables.ts';
import type { SqlNames } from '../names.ts';
import { QUEUE_TABLES } from '../queue/tables.ts';
import { PGVECTOR, VECTOR_TABLES } from '../vectors/tables.ts';

/** A step of the tables that are no collections. Numbered, in order; one that was published never changes. */
export interface TableStep {
  readonly name: string;
  statements(dialect: SqlDialect, names: SqlNames): readonly string[];
  /** False: not now; the step is asked for again at the next migration. Default: always. */
  applies?(database: SqlDatabase, connection: SqlConnection): Promise<boolean>;
}

/** Where the steps are recorded. */
export const MIGRATIONS = 'migrations';

/** Safe to run when it is there already. */
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
];

/** No collection may be called like one of these. */
export const OWN_TABLES: readonly string[] = [
  MIGRATIONS,
  'ledgerAccounts',
  'ledgerCaps',
  'ledgerHolds',
  'ledgerCharges',
  'ledgerEntries',
  'rateWindows',
  'jobs',
  'vectorChunks',
  'vectorWords',
];
