import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createServices, fromCredits, type Services, USERS, type UserRecord } from '@questline/core';
import { actingAs, ORGANIZATIONS, type OrganizationRecord } from '@questline/core/internal';
import { createIds, createSystemClock } from '@questline/core/memory';
import type { Collection, StoredRecord } from '@questline/core/ports';
import { CliError } from '../cli-error.ts';
import { type Configuration, getDatabaseUrls, readConfiguration } from '../environment/configuration.ts';
import { withEnvFile } from '../environment/env-file.ts';
import { createLog } from '../log.ts';
import { knownSecret } from '../secrets.ts';
import { openChargeArchive } from '../storage/charge-archive.ts';
import { checkEncryptionKey } from '../storage/deployment.ts';
import { openObjects } from '../storage/objects.ts';
import type { Databases } from '../storage/shards.ts';
import { sqlitePath } from '../storage/sqlite.ts';
import { openStorage } from '../storage/storage.ts';
import type { Given, Option } from './arguments.ts';
import type { CommandContext } from './command.ts';

export const DEMO: Option = { name: 'demo', meaning: 'use the data of the demo instead of the workspace' };

/** The last lines of the help of every command that opens a workspace. */
export const WORKSPACE_NOTES =
  'DATABASE_URL, STORAGE_DIR and REDIS_URL select the workspace, as for `questline start`. The server may be running.';

/**
 * Opens a workspace from outside the server, whether the server runs or not. A running server sees changes immediately with
 * Redis, and within two seconds without.
 * @throws CliError when there is no workspace or it has another version. Nothing is created or migrated.
 */
export async function withWorkspace(
  given: Given,
  { environment, folder }: CommandContext,
  work: (services: Services, databases: Databases | undefined) => Promise<void>,
): Promise<void> {
  const configuration = readConfiguration(withEnvFile(environment, folder), folder);
  const demo = given.has(DEMO.name);
  assertWorkspace(configuration, demo);
  const { redisUrl, storageDir, secrets } = configuration;
  // Without the encryption key, nothing is encrypted here, and encrypted values are not shown.
  const key = knownSecret(storageDir, secrets, 'SECRET_ENCRYPTION_KEY');
  const log = createLog({
    secrets: [...getDatabaseUrls(configuration), redisUrl, key].filter((value) => value !== undefined),
    // Standard output must contain only the result, for scripts.
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
      if (key !== undefined) await checkEncryptionKey(store, key);
    },
  });
  try {
    const ports = { ...storage.ports, models: [], clock, ids };
    // No sign-in happens in this process.
    const { retention, keepNewest } = configuration;
    const services = createServices(ports, {
      jwtSecret: randomBytes(32),
      ...(retention !== undefined && { retention }),
      ...(keepNewest !== undefined && { keepNewest }),
      ...openChargeArchive(configuration, demo, () => openObjects(configuration, demo)),
      ...(key !== undefined && { secretEncryptionKey: key }),
    });
    await work(actingAs(services, { type: 'command-line' }), storage.databases);
    await services.authenticator.close();
  } finally {
    await storage.close();
  }
}

/** Opening a SQLite file creates it: check that it exists. */
function assertWorkspace({ databaseUrl, storageDir }: Configuration, demo: boolean): void {
  const path = sqlitePath(storageDir, demo);
  if (databaseUrl !== undefined || existsSync(path)) return;
  throw new CliError([
    `STORAGE_DIR: ${path} does not exist; run questline start to create it, or set another folder`,
  ]);
}

/** @throws CliError when no account has this address or id. */
export async function findUser({ store }: Pick<Services, 'store'>, who: string): Promise<UserRecord> {
  const users = store.collection(USERS);
  const [user] = /^[0-9a-f]{24}$/.test(who)
    ? [await users.get(who)]
    : await users.find({ email: who.trim().toLowerCase() }, { limit: 1 });
  if (user === undefined) throw new CliError([`there is no account ${who}`]);
  return user;
}

/** An owner of credits. */
export interface Account {
  readonly account: string;
  readonly kind: 'user' | 'organization';
  /** For people: the e-mail address, or the name of the organization. */
  readonly name: string;
}

/** @throws CliError when no account has this address or id, and no organization this id or slug. */
export async function findAccount(services: Pick<Services, 'store'>, who: string): Promise<Account> {
  const organization = await findOrganization(services, who);
  if (organization !== undefined) {
    return { account: `organization:${organization.id}`, kind: 'organization', name: organization.name };
  }
  const { id, email } = await findUser(services, who);
  return { account: `user:${id}`, kind: 'user', name: email };
}

async function findOrganization(
  { store }: Pick<Services, 'store'>,
  who: string,
): Promise<OrganizationRecord | undefined> {
  const organizations = store.collection(ORGANIZATIONS);
  const byId = /^[0-9a-f]{24}$/.test(who) ? await organizations.get(who) : undefined;
  if (byId !== undefined || who.includes('@')) return byId;
  const [bySlug] = await organizations.find({ slug: who }, { limit: 1 });
  return bySlug;
}

const PAGE = 500;

/** Reads all records of a collection in pages, oldest first. */
export async function readAll<R extends StoredRecord & { readonly createdAt: number }>(
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

/** @throws CliError when the option is not a whole number in the range. */
export function getWhole(
  given: Given,
  name: string,
  range: { min: number; max: number },
  fallback: number,
): number {
  const text = given.get(name);
  if (typeof text !== 'string') return fallback;
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= range.min && number <= range.max) return number;
  throw new CliError(
    [`--${name}: expected a whole number from ${range.min} to ${range.max}, got '${text}'`],
    2,
  );
}

export function getText(given: Given, name: string): string | undefined {
  const value = given.get(name);
  return typeof value === 'string' ? value : undefined;
}

/** Credits, with at most six decimals. */
const AMOUNT = /^\d{1,9}(?:\.\d{1,6})?$/;

/** Parses an amount above 0. @param name for the error. @returns micro-credits. @throws CliError */
export function parseCredits(name: string, text: string): number {
  if (AMOUNT.test(text) && Number(text) > 0) return fromCredits(Number(text));
  throw new CliError([`${name}: expected a number above 0 with at most 6 decimals, got '${text}'`], 2);
}
