import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import {
  type Collection,
  createServices,
  type Services,
  type StoredRecord,
  USERS,
  type UserRecord,
} from '@questline/core';
import { createIds, createSystemClock } from '@questline/core/memory';
import { type Configuration, readConfiguration } from '../environment/configuration.ts';
import { withEnvFile } from '../environment/env-file.ts';
import { createLog } from '../log.ts';
import { Mistake } from '../mistake.ts';
import { knownSecret } from '../secrets.ts';
import { checkEncryptionKey } from '../storage/deployment.ts';
import { sqlitePath } from '../storage/sqlite.ts';
import { openStorage } from '../storage/storage.ts';
import type { Given, Option } from './arguments.ts';
import type { Surroundings } from './command.ts';

export const DEMO: Option = { name: 'demo', meaning: "the demo's records in place of the workspace's" };

/** What the help of every command at the desk ends with. */
export const DESK_NOTES =
  'DATABASE_URL, STORAGE_DIR and REDIS_URL say where the workspace is, as for `questline start`. It may be running.';

/**
 * Works on a workspace's records from outside, whether its server runs or not. A running one hears at once through Redis,
 * and within two seconds without.
 * @throws Mistake when there is no workspace, or it is of another version. Nothing is made or migrated.
 */
export async function atDesk(
  given: Given,
  { environment, folder }: Surroundings,
  work: (services: Services) => Promise<void>,
): Promise<void> {
  const configuration = readConfiguration(withEnvFile(environment, folder), folder);
  const demo = given.has(DEMO.name);
  assertWorkspace(configuration, demo);
  const { databaseUrl, redisUrl, storageDir, secrets } = configuration;
  // Where it is not known, nothing is encrypted here, and what is encrypted is not shown.
  const key = knownSecret(storageDir, secrets, 'SECRET_ENCRYPTION_KEY');
  const log = createLog({
    secrets: [databaseUrl, redisUrl, key].filter((value) => value !== undefined),
    // What a machine reads from standard output must be the result alone.
    destination: process.stderr,
  });
  const clock = createSystemClock();
  const ids = createIds({ clock });
  const storage = await openStorage({
    configuration,
    demo,
    clock,
    ids,
    log,
    outdated: 'refuse',
    inspect: async (store) => {
      if (key !== undefined) await checkEncryptionKey(store, key, false);
    },
  });
  try {
    const ports = { ...storage.ports, models: [], clock, ids };
    // Nobody signs in here.
    const services = createServices(ports, {
      jwtSecret: randomBytes(32),
      ...(key !== undefined && { secretEncryptionKey: key }),
    });
    await work(services);
    await services.authenticator.close();
  } finally {
    await storage.close();
  }
}

/** A look at a file that is not there must not make it. */
function assertWorkspace({ databaseUrl, storageDir }: Configuration, demo: boolean): void {
  const path = sqlitePath(storageDir, demo);
  if (databaseUrl !== undefined || existsSync(path)) return;
  throw new Mistake([`STORAGE_DIR: there is no ${path}; questline start makes it, or set another folder`]);
}

/** @throws Mistake when nobody has this address or id. */
export async function findUser({ store }: Pick<Services, 'store'>, who: string): Promise<UserRecord> {
  const users = store.collection(USERS);
  const [user] = /^[0-9a-f]{24}$/.test(who)
    ? [await users.get(who)]
    : await users.find({ email: who.trim().toLowerCase() }, { limit: 1 });
  if (user === undefined) throw new Mistake([`there is no account ${who}`]);
  return user;
}

const PAGE = 500;

/** All records of a collection, oldest first, a page at a time. */
export async function allOf<R extends StoredRecord & { readonly createdAt: number }>(
  collection: Collection<R>,
  filter: Parameters<Collection<R>['find']>[0] = {},
): Promise<readonly R[]> {
  const all: R[] = [];
  for (;;) {
    const order = { field: 'createdAt', direction: 'asc' } as const;
    const page = await collection.find(filter, { order, offset: all.length, limit: PAGE });
    all.push(...page);
    if (page.length < PAGE) return all;
  }
}

/** @throws Mistake when the option is no whole number in the range. */
export function wholeOf(
  given: Given,
  name: string,
  range: { min: number; max: number },
  fallback: number,
): number {
  const text = given.get(name);
  if (typeof text !== 'string') return fallback;
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= range.min && number <= range.max) return number;
  throw new Mistake(
    [`--${name}: expected a whole number from ${range.min} to ${range.max}, got '${text}'`],
    2,
  );
}

export function textOf(given: Given, name: string): string | undefined {
  const value = given.get(name);
  return typeof value === 'string' ? value : undefined;
}
