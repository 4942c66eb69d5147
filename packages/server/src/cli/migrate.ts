import { existsSync } from 'node:fs';
import { createSqliteDatabase, type MigrationReport } from '@questline/sql';
import { type Configuration, getDatabaseUrls, readConfiguration } from '../environment/configuration.ts';
import { withEnvFile } from '../environment/env-file.ts';
import { createLog, type Log } from '../log.ts';
import { migrateDatabase, type OpenDatabase, openDatabase, openShards } from '../storage/database.ts';
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
  notes:
    'DATABASE_URL and STORAGE_DIR select the database, and DATABASE_SHARDS further ones, as for `questline start`.\n',

  async run(given, surroundings) {
    const { environment, folder, print } = surroundings;
    const showProgress = given.has(JSON_OUTPUT.name) ? undefined : surroundings.showProgress;
    const configuration = readConfiguration(withEnvFile(environment, folder), folder);
    const log = createLog({
      secrets: getDatabaseUrls(configuration),
      // Standard output must contain only the result, for scripts.
      destination: given.has(JSON_OUTPUT.name) ? process.stderr : { write: (line) => print(line) },
    });
    const dryRun = given.has('dry-run');
    const opened = await open(configuration, given.has('demo'), dryRun, log);
    const further = await openShards(configuration, given.has('demo'), log);
    try {
      const done: MigratedDatabase[] = [];
      for (const { database, place } of [opened, ...further]) {
        const steps = await migrateDatabase(database, dryRun, ({ name, at, of }) =>
          showProgress?.(progressLine(at, of, name)),
        );
        showProgress?.('');
        done.push({ place, steps });
      }
      const [first, ...others] = done;
      show(given, { print }, { ...first, ...(others.length > 0 && { shards: others }) }, () =>
        done.map(({ steps, place }) => (dryRun ? formatSql : toSummary)(steps, place)).join(''),
      );
    } finally {
      await Promise.all([opened, ...further].map((one) => one.close()));
    }
  },
};

interface MigratedDatabase {
  readonly place: string;
  readonly steps: readonly MigrationReport[];
}

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
