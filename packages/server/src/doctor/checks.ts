import { existsSync } from 'node:fs';
import { toCredits } from '@questline/core';
import { REJECTED_USAGE, type RejectedUsageRecord } from '@questline/core/internal';
import { createIds, createSystemClock } from '@questline/core/memory';
import { createSqliteDatabase, createSqlPorts } from '@questline/sql';
import { CliError } from '../cli-error.ts';
import type { Configuration } from '../environment/configuration.ts';
import { listen } from '../listener.ts';
import type { Log } from '../log.ts';
import { openMailer } from '../mail.ts';
import { findSecrets } from '../secrets.ts';
import { migrateDatabase, openDatabase } from '../storage/database.ts';
import { checkSecrets } from '../storage/deployment.ts';
import { checkFolder } from '../storage/folder.ts';
import { openObjects } from '../storage/objects.ts';
import { openRedis } from '../storage/redis.ts';
import { sqlitePath } from '../storage/sqlite.ts';
import { findExposure, findMailPage } from './exposure.ts';
import { type Check, type Finding, findings } from './finding.ts';

/** Timeout for finding out whether the program on the port is a Questline server. */
const NEIGHBOUR_MS = 3000;

/** All checks of a start except the providers. */
export function getChecks(configuration: Configuration, log: Log): readonly Check[] {
  return [
    () => findings('folder', async () => folder(configuration), 'make it writable, or set STORAGE_DIR'),
    () => findings('secrets', async () => secrets(configuration)),
    () => findings('port', () => port(configuration.port)),
    () => findings('database', () => database(configuration, log), databaseAdvice(configuration)),
    () => rejectedUsage(configuration, log),
    () =>
      findings(
        'redis',
        () => redis(configuration, log),
        'start Redis, or unset REDIS_URL if there is only one process',
      ),
    () =>
      findings(
        'files',
        () => files(configuration),
        'compare the S3_ variables with your service, and create the bucket there',
      ),
    () =>
      findings(
        'mail',
        () => mail(configuration),
        'compare MAIL_HOST, MAIL_PORT, MAIL_USERNAME and MAIL_PASSWORD with your mail service',
      ),
    async () => [...findExposure(configuration, undefined), ...(await findMailPage(configuration))],
  ];
}

function folder({ storageDir }: Configuration): string {
  checkFolder(storageDir);
  return existsSync(storageDir)
    ? `${storageDir} is writable`
    : `${storageDir} will be created at the first start`;
}

function secrets({ storageDir, secrets: given }: Configuration): string | Finding {
  const { path, made, exposed } = findSecrets(storageDir, given);
  if (exposed) {
    const message = `${path} is readable by other users`;
    return { subject: 'secrets', state: 'warning', message, advice: `chmod 600 ${path}` };
  }
  if (made.length === 0) return 'all three are set, and differ';
  return `${made.join(', ')} will be created at the first start, in ${path}`;
}

async function port(number: number): Promise<string | Finding> {
  try {
    const listener = await listen(number, undefined);
    const message = number === 0 ? 'the system chooses a port' : `${number} is free`;
    await listener.drain();
    return message;
  } catch (error) {
    if (error instanceof CliError && (await isOurs(number))) return `Questline already listens on ${number}`;
    throw error;
  }
}

async function isOurs(number: number): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(NEIGHBOUR_MS);
    const answer = await fetch(`http://127.0.0.1:${number}/api/health`, { signal });
    const { status, uptimeSeconds } = (await answer.json()) as { status?: unknown; uptimeSeconds?: unknown };
    return status === 'ok' && typeof uptimeSeconds === 'number';
  } catch {
    return false;
  }
}

async function database(configuration: Configuration, log: Log): Promise<string | Finding> {
  const path = sqlitePath(configuration.storageDir, false);
  if (configuration.databaseUrl === undefined && !existsSync(path)) {
    // Checks that this Node has SQLite.
    await createSqliteDatabase({ path: ':memory:' }).close();
    return `${path} will be created at the first start`;
  }
  const opened = await openDatabase(configuration, false, log);
  try {
    const steps = await migrateDatabase(opened.database, true);
    if (steps.length === 0) {
      const clock = createSystemClock();
      const { store } = createSqlPorts(opened.database, { clock, ids: createIds({ clock }) });
      await checkSecrets(store, findSecrets(configuration.storageDir, configuration.secrets));
      return `${opened.place} is reachable and up to date`;
    }
    const message = `${opened.place} is reachable; ${steps.length} migration steps are pending`;
    return {
      subject: 'database',
      state: 'warning',
      message,
      advice: 'questline start runs them; questline migrate --dry-run prints them',
    };
  } finally {
    await opened.close();
  }
}

/** Reports provider usage reports that were not charged in full. */
async function rejectedUsage(configuration: Configuration, log: Log): Promise<readonly Finding[]> {
  const path = sqlitePath(configuration.storageDir, false);
  if (configuration.databaseUrl === undefined && !existsSync(path)) return [];
  let records: readonly RejectedUsageRecord[];
  try {
    const opened = await openDatabase(configuration, false, log);
    try {
      if ((await migrateDatabase(opened.database, true)).length > 0) return [];
      const clock = createSystemClock();
      const { store } = createSqlPorts(opened.database, { clock, ids: createIds({ clock }) });
      records = await store.collection(REJECTED_USAGE).find({});
    } finally {
      await opened.close();
    }
  } catch (error) {
    // The database check reports this failure.
    if (error instanceof CliError) return [];
    throw error;
  }
  return records.map(({ provider, model, count, lastAt, reported, charged, amount }) => ({
    subject: 'usage',
    state: 'warning',
    message:
      `${count} usage reports of ${provider} for ${model} were not charged in full; last ${new Date(lastAt).toISOString()}: ` +
      `reported ${JSON.stringify(reported)}, charged ${toCredits(amount)} credits for ${JSON.stringify(charged)}`,
    advice:
      'compare with the bill of the provider, and correct the context window or the prices of the model',
  }));
}

function databaseAdvice({ databaseUrl }: Configuration): string {
  return databaseUrl === undefined
    ? 'restore a backup of the file, or move the file away'
    : 'start PostgreSQL, or correct DATABASE_URL; without it, a file in STORAGE_DIR is used';
}

async function redis({ redisUrl }: Configuration, log: Log): Promise<string> {
  if (redisUrl === undefined) return 'not used: correct for one process';
  await (await openRedis(redisUrl, false, log)).close();
  return 'answers';
}

async function files(configuration: Configuration): Promise<string> {
  if (configuration.s3 === undefined) return `stored in ${configuration.storageDir}`;
  await openObjects(configuration, false);
  const { endpoint, bucket } = configuration.s3;
  return `${new URL(endpoint).host} grants access to ${bucket}`;
}

async function mail(configuration: Configuration): Promise<string> {
  if (configuration.mail === undefined) return 'not used: codes are printed in the terminal';
  const publicUrl = configuration.publicUrl ?? 'http://localhost';
  await openMailer({ ...configuration, publicUrl, print: () => undefined });
  const { host, port: at, username } = configuration.mail;
  return `${host}:${at} ${username === undefined ? 'accepts mail' : `accepts the login ${username}`}`;
}
