import { existsSync } from 'node:fs';
import { createIds, createSystemClock } from '@questline/core/memory';
import { createSqliteDatabase, createSqlPorts } from '@questline/sql';
import type { Configuration } from '../environment/configuration.ts';
import { listen } from '../listener.ts';
import type { Log } from '../log.ts';
import { openMailer } from '../mail.ts';
import { Mistake } from '../mistake.ts';
import { findSecrets } from '../secrets.ts';
import { migrateDatabase, openDatabase } from '../storage/database.ts';
import { checkEncryptionKey } from '../storage/deployment.ts';
import { checkFolder } from '../storage/folder.ts';
import { openObjects } from '../storage/objects.ts';
import { openRedis } from '../storage/redis.ts';
import { sqlitePath } from '../storage/sqlite.ts';
import { type Finding, findings, type Look } from './finding.ts';

/** A server that runs already answers soon, or it is none of ours. */
const NEIGHBOUR_MS = 3000;

/** Everything a start would look at, and would stop at, but for the providers. */
export function looksAt(configuration: Configuration, log: Log): readonly Look[] {
  return [
    () => findings('folder', async () => folder(configuration), 'make it writable, or set STORAGE_DIR'),
    () => findings('secrets', async () => secrets(configuration)),
    () => findings('port', () => port(configuration.port)),
    () => findings('database', () => database(configuration, log), databaseAdvice(configuration)),
    () =>
      findings(
        'redis',
        () => redis(configuration, log),
        'start Redis, or leave REDIS_URL out on one process',
      ),
    () =>
      findings(
        'files',
        () => files(configuration),
        'compare the S3_ variables with what your service says, and make the bucket there',
      ),
    () =>
      findings(
        'mail',
        () => mail(configuration),
        'compare MAIL_HOST, MAIL_PORT, MAIL_USERNAME and MAIL_PASSWORD with what your mail service says',
      ),
  ];
}

function folder({ storageDir }: Configuration): string {
  checkFolder(storageDir);
  return existsSync(storageDir)
    ? `${storageDir} can be written`
    : `${storageDir} can be made at the first start`;
}

function secrets({ storageDir, secrets: given }: Configuration): string | Finding {
  const { path, made, exposed } = findSecrets(storageDir, given);
  if (exposed) {
    const message = `others can read ${path}`;
    return { subject: 'secrets', state: 'warning', message, advice: `chmod 600 ${path}` };
  }
  if (made.length === 0) return 'all three are there, and differ';
  return `${made.join(', ')} will be made at the first start, in ${path}`;
}

async function port(number: number): Promise<string | Finding> {
  try {
    const listener = await listen(number, undefined);
    const told = number === 0 ? 'the system chooses one' : `${number} is free`;
    await listener.drain();
    return told;
  } catch (error) {
    if (error instanceof Mistake && (await isOurs(number))) return `Questline answers on ${number} already`;
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
    // Whether this Node has SQLite at all.
    await createSqliteDatabase({ path: ':memory:' }).close();
    return `${path} will be made at the first start`;
  }
  const opened = await openDatabase(configuration, false, log);
  try {
    const steps = await migrateDatabase(opened.database, true);
    if (steps.length === 0) {
      const clock = createSystemClock();
      const { store } = createSqlPorts(opened.database, { clock, ids: createIds({ clock }) });
      const { values, made } = findSecrets(configuration.storageDir, configuration.secrets);
      const isMade = made.includes('SECRET_ENCRYPTION_KEY');
      await checkEncryptionKey(store, values.SECRET_ENCRYPTION_KEY, isMade);
      return `${opened.place} answers and is at this version`;
    }
    const message = `${opened.place} answers; ${steps.length} steps bring it to this version`;
    return {
      subject: 'database',
      state: 'warning',
      message,
      advice: 'questline start takes them by itself; questline migrate --dry-run shows them',
    };
  } finally {
    await opened.close();
  }
}

function databaseAdvice({ databaseUrl }: Configuration): string {
  return databaseUrl === undefined
    ? 'put a backup of the file back, or move it away'
    : 'start PostgreSQL, or correct DATABASE_URL; without it a file in STORAGE_DIR is used';
}

async function redis({ redisUrl }: Configuration, log: Log): Promise<string> {
  if (redisUrl === undefined) return 'not used: right for one process';
  await (await openRedis(redisUrl, false, log)).close();
  return 'answers';
}

async function files(configuration: Configuration): Promise<string> {
  if (configuration.s3 === undefined) return `kept in ${configuration.storageDir}`;
  await openObjects(configuration, false);
  const { endpoint, bucket } = configuration.s3;
  return `${new URL(endpoint).host} lets us into ${bucket}`;
}

async function mail(configuration: Configuration): Promise<string> {
  if (configuration.mail === undefined) return 'not used: codes are shown in the terminal';
  const publicUrl = configuration.publicUrl ?? 'http://localhost';
  await openMailer({ ...configuration, publicUrl, print: () => undefined });
  const { host, port: at, username } = configuration.mail;
  return `${host}:${at} ${username === undefined ? 'takes mail' : `lets ${username} in`}`;
}
