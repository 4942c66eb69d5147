import { hashSecret } from '@questline/core/internal';
import { defineCollection, type Store, type StoredRecord } from '@questline/core/ports';
import { CliError } from '../cli-error.ts';
import { SECRETS, type SecretName } from '../environment/variables.ts';
import type { Secrets, SecretsFile } from '../secrets.ts';

/** Values that must never change for existing data. */
interface DeploymentRecord extends StoredRecord {
  readonly value: string;
}

export const DEPLOYMENT = defineCollection<DeploymentRecord>({
  name: 'deployment',
  columns: {},
  unique: [],
  indexes: [],
});

const SHARD_NAME = 'shard_name';

/** The records of the fingerprints. */
const FINGERPRINTS: Readonly<Record<SecretName, string>> = {
  JWT_SECRET: 'jwt_secret',
  SESSION_SECRET: 'session_secret',
  SECRET_ENCRYPTION_KEY: 'secret_encryption_key',
};

/**
 * Compares the secrets with those of the last start. The encryption key must never change. The other two may be
 * replaced by a given value, but not by a new one because the former is missing: that would sign
 * all users out at each start of a process that lost them.
 * @throws CliError that lists every missing or changed one.
 */
export async function checkSecrets(
  store: Store,
  { values, made }: Pick<SecretsFile, 'values' | 'made'>,
): Promise<void> {
  const issues: string[] = [];
  for (const name of SECRETS) {
    if (made.includes(name) && (await getKnown(store, name)) !== undefined) issues.push(missing(name));
  }
  if (issues.length > 0) throw new CliError(issues);
  await checkEncryptionKey(store, values.SECRET_ENCRYPTION_KEY);
}

/** @throws CliError when the key differs from the one of the first start: existing data could not be decrypted. */
export async function checkEncryptionKey(store: Store, key: string): Promise<void> {
  const known = await getKnown(store, 'SECRET_ENCRYPTION_KEY');
  if (known === undefined || known === getFingerprint(key)) return;
  throw new CliError([
    'SECRET_ENCRYPTION_KEY: differs from the key that this data was created with; restore the former value',
  ]);
}

/**
 * Records the name of a shard in its database. A name never changes, and two names never have the same database.
 * @throws CliError when the database has another name.
 */
export async function keepShardName(store: Store, name: string): Promise<void> {
  const records = store.collection(DEPLOYMENT);
  if (await records.insert({ id: SHARD_NAME, value: name })) return;
  const known = (await records.get(SHARD_NAME))?.value;
  if (known === name) return;
  throw new CliError([
    `DATABASE_SHARDS: the database of ${name} is that of ${known}; restore the former names`,
  ]);
}

/** Stores the fingerprints. Of several concurrent first starts, one stores that of the encryption key. */
export async function keepSecrets(store: Store, values: Secrets): Promise<void> {
  const records = store.collection(DEPLOYMENT);
  for (const name of SECRETS) {
    const record = { id: FINGERPRINTS[name], value: getFingerprint(values[name]) };
    if (await records.insert(record)) continue;
    if (name === 'SECRET_ENCRYPTION_KEY') await checkEncryptionKey(store, values[name]);
    else await records.update(record.id, { value: record.value });
  }
}

async function getKnown(store: Store, name: SecretName): Promise<string | undefined> {
  return (await store.collection(DEPLOYMENT).get(FINGERPRINTS[name]))?.value;
}

function missing(name: SecretName): string {
  const former =
    name === 'SECRET_ENCRYPTION_KEY' ? 'this data was created with one' : 'this workspace has one';
  return `${name}: missing, but ${former}; set it, or restore the file of secrets`;
}

/** A one-way hash: it reveals nothing about the secret, and has no other use. */
function getFingerprint(secret: string): string {
  return hashSecret(`fingerprint of ${secret.toLowerCase()}`).slice(0, 32);
}
