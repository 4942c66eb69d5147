import { defineCollection, type Store, type StoredRecord } from '../../ports/store.ts';
import { type StoreWrite, writesTo } from '../../ports/write-all.ts';
import { ApiError } from '../../shared/errors.ts';

/** Kinds of stored data with their own quota, besides files. */
export type StorageKind = 'artifacts' | 'sessions' | 'lakes';

/** Storage quota per owner and kind, bytes. `null` or 0: unlimited. */
export interface StorageQuotas {
  /** All versions of all artifacts. Default 1 GiB. */
  readonly artifacts: number | null;
  /** Sessions and their messages. Default 2 GiB. */
  readonly sessions: number | null;
  /** Files in data lakes, by file size. Default 10 GiB. */
  readonly lakes: number | null;
}

export const DEFAULT_STORAGE_QUOTAS: StorageQuotas = {
  artifacts: 2 ** 30,
  sessions: 2 * 2 ** 30,
  lakes: 10 * 2 ** 30,
};

/** Usage of one owner and kind; its id is `<owner>:<kind>`. */
export interface StorageUsageRecord extends StoredRecord {
  readonly bytes: number;
}

export const STORAGE_USAGE = defineCollection<StorageUsageRecord>({
  name: 'storage_usage',
  columns: { bytes: 'integer' },
  unique: [],
  indexes: [],
});

const usageWrites = writesTo(STORAGE_USAGE);

/** Bytes of one kind, of one owner. */
export interface StorageAmount {
  readonly ownerId: string;
  readonly kind: StorageKind;
  readonly bytes: number;
}

/** Overhead of a record besides its text, bytes. */
const RECORD_BYTES = 256;

/** The storage usage of a record with this text, bytes. */
export function measureRecord(text: string): number {
  return Buffer.byteLength(text) + RECORD_BYTES;
}

/**
 * Adds bytes to an owner's usage, in the transaction that stores them. Exact under concurrency: concurrent writes never
 * exceed the quota. @throws ApiError 422 `limit_exceeded`, with nothing added.
 */
export async function takeStorage(store: Store, amount: StorageAmount, quotas: StorageQuotas): Promise<void> {
  const limit = getLimit(quotas, amount.kind);
  const { bytes } = amount;
  if (bytes <= limit) {
    const usage = store.collection(STORAGE_USAGE);
    const id = getId(amount);
    const room = limit === Number.POSITIVE_INFINITY ? undefined : { bytes: { lte: limit - bytes } };
    if ((await usage.add(id, { bytes }, room)) !== undefined) return;
    // The owner's first entry, unless a concurrent one was first; then the quota decides again.
    if (await usage.insert({ id, bytes })) return;
    if ((await usage.add(id, { bytes }, room)) !== undefined) return;
  }
  throw exceeded(amount, await readUsage(store, amount), limit);
}

/** Adds bytes without a check, for data that is stored in any case, such as the answer of a paid turn. */
export async function countStorage(store: Store, amount: StorageAmount): Promise<void> {
  const usage = store.collection(STORAGE_USAGE);
  const { bytes } = amount;
  const id = getId(amount);
  if ((await usage.add(id, { bytes })) !== undefined) return;
  if (await usage.insert({ id, bytes })) return;
  await usage.add(id, { bytes });
}

/** Subtracts bytes, in the transaction that deletes the data. */
export async function giveStorageBack(store: Store, amount: StorageAmount): Promise<void> {
  if (amount.bytes === 0) return;
  await store.collection(STORAGE_USAGE).add(getId(amount), { bytes: -amount.bytes });
}

/** `giveStorageBack`, among writes. Has no effect without a counter. */
export function storageReturn({ bytes, ...owner }: StorageAmount): readonly StoreWrite[] {
  return bytes === 0 ? [] : [writesTo(STORAGE_USAGE).add(getId(owner), { bytes: -bytes })];
}

/** Deletes the counters of a user. */
export async function eraseUsage(store: Store, ownerId: string): Promise<void> {
  for (const kind of Object.keys(NAMES) as StorageKind[]) {
    await store.collection(STORAGE_USAGE).take(getId({ ownerId, kind }));
  }
}

/**
 * Checks the quota before work whose result is stored in any case. No promise without a quota.
 * @throws ApiError 422 `limit_exceeded` when the quota is used up.
 */
export function requireStorage(
  store: Store,
  owner: Omit<StorageAmount, 'bytes'>,
  quotas: StorageQuotas,
): void | Promise<void> {
  const limit = getLimit(quotas, owner.kind);
  if (limit === Number.POSITIVE_INFINITY) return;
  return readUsage(store, owner).then((used) => {
    if (used >= limit) throw exceeded({ ...owner, bytes: 1 }, used, limit);
  });
}

/** The check of `requireStorage`, among writes. */
export function expectStorage(
  owner: Omit<StorageAmount, 'bytes'>,
  quotas: StorageQuotas,
): readonly StoreWrite[] {
  const limit = getLimit(quotas, owner.kind);
  if (limit === Number.POSITIVE_INFINITY) return [];
  return [usageWrites.expectNone(getId(owner), { bytes: { gte: limit } })];
}

/** `countStorage`, among writes. */
export function storageWrite({ bytes, ...owner }: StorageAmount): StoreWrite {
  return usageWrites.count(getId(owner), { bytes });
}

function readUsage(store: Store, owner: Omit<StorageAmount, 'bytes'>): Promise<number> {
  return store
    .collection(STORAGE_USAGE)
    .get(getId(owner))
    .then((usage) => usage?.bytes ?? 0);
}

function getLimit(quotas: StorageQuotas, kind: StorageKind): number {
  return quotas[kind] || Number.POSITIVE_INFINITY;
}

function getId({ ownerId, kind }: Omit<StorageAmount, 'bytes'>): string {
  return `${ownerId}:${kind}`;
}

const NAMES: Readonly<Record<StorageKind, string>> = {
  artifacts: 'artifacts',
  sessions: 'sessions and messages',
  lakes: 'files in data lakes',
};

function exceeded({ kind, bytes }: StorageAmount, used: number, limit: number): ApiError {
  return new ApiError(
    422,
    `Storage quota exceeded: ${NAMES[kind]} of one owner may take up ${limit} bytes, ${used} are used and ${bytes} more are needed`,
    { code: 'limit_exceeded' },
  );
}
