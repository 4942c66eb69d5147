import type { CollectionShape } from '@questline/core/ports';
import type { SqlConnection, SqlDatabase } from '../database.ts';
import type { SqlNames } from '../names.ts';
import { defineStatement } from '../statement.ts';
import { collectionStep } from './collections.ts';
import { describeTable } from './existing.ts';
import { searchSteps } from './search.ts';
import { createMigrations, MIGRATIONS, OWN_TABLES, TABLE_STEPS } from './tables.ts';

/** One forward step: runs once per database, atomically, without a way back. */
export interface MigrationStep {
  /** The recorded name. */
  readonly name: string;
  /** False: skip it now; the next migration checks again. Default: always. */
  applies?(connection: SqlConnection): Promise<boolean>;
  /** The missing statements, given the existing tables. */
  plan(connection: SqlConnection): Promise<readonly string[]>;
}

export interface MigrateOptions {
  /** All used collections: core's `COLLECTIONS`, and your own. */
  readonly collections: readonly CollectionShape[];
  /** Lists the pending steps without running them. */
  readonly dryRun?: boolean;
  /** Called before each pending step with its position, from 1, and the number of pending steps. */
  readonly onStep?: (step: { readonly name: string; readonly at: number; readonly of: number }) => void;
  /** Milliseconds a step may take, waiting for another process's step included. Default 10 minutes. */
  readonly timeoutMs?: number;
}

/** A step that was run, or would be. */
export interface MigrationReport {
  readonly name: string;
  readonly statements: readonly string[];
}

/**
 * Migrates the database to this version: creates what is missing, drops nothing. Any number of processes may do it
 * at once. A killed process leaves only complete steps, and the next start continues.
 * @throws TypeError when two collections would share a table; Error when a column's type changed or a unique rule does not
 * hold for what is stored.
 * @returns the steps that were missing, in order. Empty when the database is up to date.
 */
export async function migrate(
  database: SqlDatabase,
  { collections, dryRun = false, onStep, timeoutMs = 600_000 }: MigrateOptions,
): Promise<readonly MigrationReport[]> {
  const { dialect, names } = database;
  const table = names.table(MIGRATIONS);
  const readNames = defineStatement(dialect, `select name from ${table}`);
  const record = defineStatement<'name' | 'statements'>(
    dialect,
    `insert into ${table} (name, statements) values (@name, @statements)`,
  );

  const readDone = async (connection: SqlConnection): Promise<ReadonlySet<string>> => {
    const existing = await describeTable(database, connection, names.plain(MIGRATIONS));
    if (existing === undefined) return new Set();
    const rows = await connection.run(readNames({}));
    return new Set(rows.map(({ name }) => String(name)));
  };

  const run = async (connection: SqlConnection, statements: readonly string[]): Promise<void> => {
    for (const sql of statements) await connection.run({ sql, parameters: [] });
  };

  /** @returns undefined when another process has run the step meanwhile. */
  const apply = (step: MigrationStep): Promise<MigrationReport | undefined> =>
    database.transaction(
      async (connection) => {
        if (dialect === 'postgres') await connection.run(lockStatement(database));
        await run(connection, createMigrations(dialect, names));
        if ((await readDone(connection)).has(step.name)) return undefined;
        const statements = await step.plan(connection);
        await run(connection, statements);
        const report = { name: step.name, statements };
        await connection.run(record({ name: step.name, statements: statements.join(';\n') }));
        return report;
      },
      // The lock comes before the first read, so each statement needs a new snapshot.
      { isolation: 'read committed', timeoutMs },
    );

  assertNamesDiffer(names, collections);
  const steps: readonly MigrationStep[] = [
    ...TABLE_STEPS.map(({ name, statements, applies }) => ({
      name,
      applies: async (connection: SqlConnection) => applies?.(database, connection) ?? true,
      plan: async () => statements(dialect, names),
    })),
    ...collections.map((definition) => collectionStep(database, definition)),
    ...collections.flatMap((definition) => searchSteps(database, definition)),
  ];
  const done = await readDone(database);
  const reports: MigrationReport[] = [];
  const missing = steps.filter(({ name }) => !done.has(name));
  for (const [index, step] of missing.entries()) {
    onStep?.({ name: step.name, at: index + 1, of: missing.length });
    if ((await step.applies?.(database)) === false) continue;
    const report = dryRun ? { name: step.name, statements: await step.plan(database) } : await apply(step);
    if (report !== undefined) reports.push(report);
  }
  return reports;
}

function assertNamesDiffer(names: SqlNames, collections: readonly CollectionShape[]): void {
  const taken = new Set(OWN_TABLES.map(names.plain));
  for (const { name } of collections) {
    const table = names.plain(name);
    if (taken.has(table)) throw new TypeError(`the table ${table} of the collection ${name} is taken`);
    taken.add(table);
  }
}

/** Held until the end of the transaction. SQLite's transactions exclude each other anyway. */
function lockStatement({ dialect, names }: SqlDatabase) {
  const lock = defineStatement<'name'>(dialect, 'select pg_advisory_xact_lock(hashtextextended(@name, 0))');
  return lock({ name: `${names.schema ?? ''} ${names.prefix}migrations` });
}
