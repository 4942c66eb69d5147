import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../ports/clock.ts';
import type { Store } from '../ports/store.ts';
import { withMaxEntries } from '../shared/cache-size.ts';
import { createRecentRecords } from '../shared/recent-records.ts';
import { type CatalogueOptions, createCatalogue, type ModelCatalogue } from './catalogue.ts';
import { keyedProvider } from './keyed-provider.ts';
import {
  activeFor,
  getPlace,
  KEYED_SERVICES,
  PROVIDER_KEYS,
  type ProviderKeyRecord,
} from './provider-keys-records.ts';
import type { SecretBox } from './secret-box.ts';

/** Minimum interval between writes of a key's `lastUsedAt`. */
const USED_EVERY_MS = 60_000;
const CACHED = 10_000;
/** A user has one active key per service, and a read returns at most 1,000 of them. */
const MAX_TOGETHER = 1000 / KEYED_SERVICES.length;

export interface OwnModels {
  /** Returns the models of a user, without the lists of its calls. */
  getCatalogue(userId: string): ModelCatalogue | Promise<ModelCatalogue>;
  /** Evicts a user's keys after a change in this process. */
  forget(userId: string): void;
  /** Ends the repeated reads of keys in use. */
  close(): void;
}

interface CacheEntry {
  readonly catalogue: ModelCatalogue;
  /** The keys that the catalogue was created from. */
  readonly madeFrom: string;
}

export function createOwnModels(services: {
  readonly store: Store;
  readonly clock: Clock;
  readonly box: SecretBox;
  readonly catalogue: ModelCatalogue;
  readonly options: CatalogueOptions;
  readonly onError: (error: unknown) => void;
}): OwnModels {
  const { clock, box, catalogue, options, onError } = services;
  const keys = services.store.collection(PROVIDER_KEYS);
  const catalogues = new LRUCache<string, CacheEntry>(withMaxEntries(CACHED));
  const used = new LRUCache<string, number>(withMaxEntries(CACHED));
  const active = createRecentRecords<readonly ProviderKeyRecord[]>({
    ...{ clock, onError, maxTogether: MAX_TOGETHER },
    read: (userId) => keys.find({ userId, isActive: true }),
    async readAll(userIds) {
      const byUser = new Map<string, ProviderKeyRecord[]>(userIds.map((id) => [id, []]));
      // By the unique field: the planner of a database can then rely on few records, however many a user has.
      const places = userIds.flatMap((userId) =>
        KEYED_SERVICES.map((service) => activeFor({ userId, service })),
      );
      for (const record of await keys.find({ activeFor: { in: places } })) {
        byUser.get(record.userId)?.push(record);
      }
      return byUser;
    },
  });

  /** Fire and forget: on failure only `lastUsedAt` is stale. */
  const noteUse = async ({ id, lastUsedAt }: ProviderKeyRecord): Promise<void> => {
    const now = clock.now();
    if (now - (used.get(id) ?? lastUsedAt ?? 0) < USED_EVERY_MS) return;
    used.set(id, now);
    try {
      await keys.update(id, { lastUsedAt: now });
    } catch (error) {
      onError(error);
    }
  };

  /** Decrypted per call, so that no plain key stays in memory. */
  const open = (record: ProviderKeyRecord): string => {
    const key = box.open(record.sealed, getPlace(record));
    if (key === undefined) {
      throw new Error(`provider key ${record.id} was stored under another secretEncryptionKey`);
    }
    void noteUse(record);
    return key;
  };

  const catalogueWith = (own: readonly ProviderKeyRecord[]): ModelCatalogue => {
    const byService = new Map<string, ProviderKeyRecord>(own.map((record) => [record.service, record]));
    return createCatalogue({
      ...options,
      providers: options.providers.map((provider) => {
        const record = byService.get(provider.id);
        return record === undefined ? provider : keyedProvider(provider, () => open(record));
      }),
      ownKeys: new Map(own.map((record) => [record.service, hashCredential(record)])),
    });
  };

  /** Keeps the catalogue of a user while the keys are the same. */
  const catalogueOf = (userId: string, own: readonly ProviderKeyRecord[] = []): ModelCatalogue => {
    if (own.length === 0) return catalogue;
    const madeFrom = own.map(({ id, sealed }) => `${id}:${sealed}`).join();
    const earlier = catalogues.get(userId);
    if (earlier?.madeFrom === madeFrom) return earlier.catalogue;
    const made = catalogueWith(own);
    catalogues.set(userId, { catalogue: made, madeFrom });
    return made;
  };

  return {
    getCatalogue(userId) {
      const own = active.find(userId);
      return own instanceof Promise
        ? own.then((found) => catalogueOf(userId, found))
        : catalogueOf(userId, own);
    },
    forget(userId) {
      active.forget(userId);
      catalogues.delete(userId);
    },
    close: () => active.close(),
  };
}

/** A hash of the encrypted key, so that a replaced key has another name and no decryption is needed. */
function hashCredential({ id, sealed }: ProviderKeyRecord): string {
  return createHash('sha256').update(`${id}:${sealed}`).digest('base64url');
}
