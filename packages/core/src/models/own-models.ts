import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../ports/clock.ts';
import type { Store } from '../ports/store.ts';
import { withMaxEntries } from '../shared/cache-size.ts';
import { type CatalogueOptions, createCatalogue, type ModelCatalogue } from './catalogue.ts';
import { keyedProvider } from './keyed-provider.ts';
import { getPlace, PROVIDER_KEYS, type ProviderKeyRecord } from './provider-keys-records.ts';
import type { SecretBox } from './secret-box.ts';

/** Cache TTL of a user's keys. Bounds the delay of a change in another process. */
const CACHE_TTL_MS = 1500;
/** Minimum interval between writes of a key's `lastUsedAt`. */
const USED_EVERY_MS = 60_000;
const CACHED = 10_000;

export interface OwnModels {
  /** Returns the models of a user, without the lists of its calls. */
  getCatalogue(userId: string): ModelCatalogue | Promise<ModelCatalogue>;
  /** Evicts a user's keys after a change in this process. */
  forget(userId: string): void;
}

interface CacheEntry {
  readonly catalogue: ModelCatalogue;
  /** The keys that the catalogue was created from. */
  readonly keyIds: string;
  readonly until: number;
}

export function createOwnModels(services: {
  readonly store: Store;
  readonly clock: Clock;
  readonly box: SecretBox;
  readonly catalogue: ModelCatalogue;
  readonly options: CatalogueOptions;
  readonly onError: (error: unknown) => void;
}): OwnModels {
  const { clock, box, catalogue, options } = services;
  const keys = services.store.collection(PROVIDER_KEYS);
  const known = new LRUCache<string, CacheEntry>(withMaxEntries(CACHED));
  const used = new LRUCache<string, number>(withMaxEntries(CACHED));
  /** Eviction counter: a read that began before an eviction is not cached. */
  let forgotten = 0;

  /** Fire and forget: on failure only `lastUsedAt` is stale. */
  const noteUse = async ({ id, lastUsedAt }: ProviderKeyRecord): Promise<void> => {
    const now = clock.now();
    if (now - (used.get(id) ?? lastUsedAt ?? 0) < USED_EVERY_MS) return;
    used.set(id, now);
    try {
      await keys.update(id, { lastUsedAt: now });
    } catch (error) {
      services.onError(error);
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

  async function look(userId: string): Promise<ModelCatalogue> {
    const before = forgotten;
    const own = await keys.find({ userId, isActive: true });
    const keyIds = own.map(({ id }) => id).join();
    const earlier = known.get(userId);
    const found =
      earlier?.keyIds === keyIds ? earlier.catalogue : own.length === 0 ? catalogue : catalogueWith(own);
    if (forgotten === before) {
      known.set(userId, { catalogue: found, keyIds, until: clock.now() + CACHE_TTL_MS });
    }
    return found;
  }

  return {
    getCatalogue(userId) {
      const believed = known.get(userId);
      return believed !== undefined && believed.until > clock.now() ? believed.catalogue : look(userId);
    },
    forget(userId) {
      forgotten += 1;
      known.delete(userId);
    },
  };
}

/** A hash of the encrypted key, so that a replaced key has another name and no decryption is needed. */
function hashCredential({ id, sealed }: ProviderKeyRecord): string {
  return createHash('sha256').update(`${id}:${sealed}`).digest('base64url');
}
