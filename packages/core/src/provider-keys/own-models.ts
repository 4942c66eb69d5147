import { createBoundedMap } from '../bounded-map.ts';
import { type CatalogueOptions, createCatalogue, type ModelCatalogue } from '../models/catalogue.ts';
import type { Clock } from '../ports/clock.ts';
import type { Store } from '../ports/store.ts';
import { keyedProvider } from './keyed-provider.ts';
import { PROVIDER_KEYS, type ProviderKeyRecord, placeOf } from './records.ts';
import type { SecretBox } from './secret-box.ts';

/** How long a user's keys are believed without asking the store: bounds how long a change elsewhere goes unseen. */
const BELIEVED_MS = 1500;
/** How often a key's `lastUsedAt` is written at most. */
const USED_EVERY_MS = 60_000;
const CACHED = 10_000;

/** The models there are for a user: the workspace's, those of providers with a key of the user's own under that key. */
export type CatalogueOf = (userId: string) => ModelCatalogue | Promise<ModelCatalogue>;

export interface OwnModels {
  readonly catalogueOf: CatalogueOf;
  /** Forgets what a user's keys were, after they were changed here. */
  forget(userId: string): void;
}

interface Believed {
  readonly catalogue: ModelCatalogue;
  /** Which keys it was made of. */
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
  const known = createBoundedMap<Believed>(CACHED);
  const used = createBoundedMap<number>(CACHED);
  /** Counts what was forgotten: what was read before that is not believed after it. */
  let forgotten = 0;

  /** Nobody waits for it, and a failure costs only the date. */
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

  /** Opened at each call, so that no key lies about in clear. */
  const open = (record: ProviderKeyRecord): string => {
    const key = box.open(record.sealed, placeOf(record));
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
      ownKeys: new Set(byService.keys()),
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
      known.set(userId, { catalogue: found, keyIds, until: clock.now() + BELIEVED_MS });
    }
    return found;
  }

  return {
    catalogueOf(userId) {
      const believed = known.get(userId);
      return believed !== undefined && believed.until > clock.now() ? believed.catalogue : look(userId);
    },
    forget(userId) {
      forgotten += 1;
      known.delete(userId);
    },
  };
}
