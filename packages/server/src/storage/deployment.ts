import { defineCollection, hashSecret, type Store, type StoredRecord } from '@questline/core';
import { Mistake } from '../mistake.ts';

/** What must stay the same for as long as the data lives. */
interface DeploymentRecord extends StoredRecord {
  readonly value: string;
}

export const DEPLOYMENT = defineCollection<DeploymentRecord>({
  name: 'deployment',
  columns: {},
  unique: [],
  indexes: [],
});

const KEY_FINGERPRINT = 'secret_encryption_key';

/**
 * Compares the encryption key with the one the data began with.
 * @param made whether the key was made just now, because none was given or kept.
 * @throws Mistake when it is another one: what it has encrypted could not be read.
 */
export async function checkEncryptionKey(store: Store, key: string, made: boolean): Promise<void> {
  const known = await store.collection(DEPLOYMENT).get(KEY_FINGERPRINT);
  if (known === undefined || known.value === fingerprintOf(key)) return;
  throw new Mistake([
    made
      ? 'SECRET_ENCRYPTION_KEY: is missing, and this data was begun with one; set it, or put the file of secrets back'
      : 'SECRET_ENCRYPTION_KEY: is not the one this data was begun with; set it back to what it was',
  ]);
}

/** Remembers the key by its fingerprint. Of several first starts at once, one is remembered. */
export async function keepEncryptionKey(store: Store, key: string): Promise<void> {
  const kept = await store.collection(DEPLOYMENT).insert({ id: KEY_FINGERPRINT, value: fingerprintOf(key) });
  if (!kept) await checkEncryptionKey(store, key, false);
}

/** Says nothing about the key to anybody who reads the database, and is used for nothing else. */
function fingerprintOf(key: string): string {
  return hashSecret(`fingerprint of ${key.toLowerCase()}`).slice(0, 32);
}
