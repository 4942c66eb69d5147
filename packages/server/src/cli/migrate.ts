import { existsSync } from 'node:fs';
import { createSqliteDatabase, type MigrationReport } from '@questline/sql';
import { type Configuration, readConfiguration } from '../environment/configuration.ts';
import { withEnvFile } from '../environment/env-file.ts';
import { createLog, type Log } from '../log.ts';
import { migrateDatabase, type OpenDatabase, openDatabase } from '../storage/database.ts';
import { sqlitePath } from '../storage/sqlite.ts';
import { HELP } from './arguments.ts';
import type { Command } from './command.ts';
import { JSON_OUTPUT, progressLine, show } from './output.ts';

export const migrate: Command = {
  name: 'migrate',
  summary: 'Migrate the database to this version. `start` does the same automatically.',
  options: [
    { name: 'dry-run', meaning: 'print the SQL without running it' },
    { name: 'demo', meaning: 'use the data of the demo instead of the workspace' },
    JSON_OUTPUT,
    HELP,
  ],
  notes: 'DATABASE_URL and STORAGE_DIR select the database, as for `questline start`.\n',

  async run(given, surroundings) {
    const { environment, folder, print } = surroundings;
    const showProgress = given.has(JSON_OUTPUT.name) ? undefined : surroundings.showProgress;
    const configuration = readConfiguration(withEnvFile(environment, folder), folder);
    const { databaseUrl } = configuration;
    const log = createLog({
      secrets: databaseUrl === undefined ? [] : [databaseUrl],
      // Standard output must contain only the result, for scripts.
      destination: given.has(JSON_OUTPUT.name) ? process.stderr : { write: (line) => print(line) },
    });
    const dryRun = given.has('dry-run');
    const opened = await open(configuration, given.has('demo'), dryRun, log);
    try {
      const steps = await migrateDatabase(opened.database, dryRun, ({ name, at, of }) =>
        showProgress?.(progressLine(at, of, name)),
      );
      showProgress?.('');
      show(given, { print }, { place: opened.place, steps }, () =>
        dryRun ? formatSql(steps, opened.place) : toSummary(steps, opened.place),
      );
    } finally {
      await opened.close();
    }
  },
};

/** Opening a SQLite file creates it: check that it exists. */
async function open(
  configuration: Configuration,
  demo: boolean,
  dryRun: boolean,
  log: Log,
): Promise<OpenDatabase> {
  const path = sqlitePath(configuration.storageDir, demo);
  if (!dryRun || configuration.databaseUrl !== undefined || existsSync(path)) {
    return openDatabase(configuration, demo, log);
  }
  const database = createSqliteDatabase({ path: ':memory:' });
  return { database, place: `${path}, which does not exist yet`, close: () => database.close() };
}

/** Formats the pending steps as an SQL script. */
function formatSql(steps: readonly MigrationReport[], place: string): string {
  if (steps.length === 0) return `-- ${place} is up to date\n`;
  const blocks = steps.map(({ name, statements }) =>
    [`-- ${name}`, ...statements.map((statement) => `${statement};`)].join('\n'),
  );
  return `-- ${steps.length} steps for ${place}\n${blocks.join('\n')}\n`;
}

function toSummary(steps: readonly MigrationReport[], place: string): string {
  if (steps.length === 0) return `${place} is up to date\n`;
  return `${steps.map(({ name }) => `done  ${name}\n`).join('')}${steps.length} steps; ${place} is up to date\n`;
}
