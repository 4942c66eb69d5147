import { createHash } from 'node:crypto';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import { defineCollection, type Store, type StoredRecord } from '../../ports/store.ts';
import { ApiError } from '../../shared/errors.ts';

/** An active transfer to an upload address. Its id is a hash of the object's key. */
export interface TransferRecord extends StoredRecord {
  /** The id of the transfer. */
  readonly holder: string;
  /** Epoch milliseconds: renewed during the transfer, and expired after a crash. */
  readonly until: number;
}

export const TRANSFERS = defineCollection<TransferRecord>({
  name: 'upload_transfers',
  columns: { holder: 'text', until: 'integer' },
  unique: [],
  indexes: [],
});

const LEASE_MS = 60_000;

export interface TransferServices {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
}

/**
 * Allows one transfer at a time to an upload address, in all processes that share the store: another one is rejected before
 * any of its bytes are read. Aborts `work` when its lease could not be renewed in time.
 * @throws ApiError 409 during another transfer.
 */
export async function withTransfer<T>(
  { store, clock, ids }: TransferServices,
  key: string,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const transfers = store.collection(TRANSFERS);
  const id = createHash('sha256').update(key).digest('hex');
  const holder = ids.next();
  const lease = () => ({ holder, until: clock.now() + LEASE_MS });
  const isFree =
    (await transfers.insert({ id, ...lease() })) ||
    (await transfers.update(id, lease(), { until: { lte: clock.now() } })) !== undefined ||
    // It ended between the two reads.
    (await transfers.insert({ id, ...lease() }));
  if (!isFree) {
    throw new ApiError(409, 'Another transfer to this address is in progress', {
      applicationCode: 'CONFLICT',
    });
  }
  const lost = new AbortController();
  let lastRenewal = clock.now();
  let cancel = clock.timer(LEASE_MS / 3, renew);
  function renew(): void {
    cancel = clock.timer(LEASE_MS / 3, renew);
    const now = clock.now();
    transfers.update(id, lease(), { holder }).then(
      (renewed) => {
        if (renewed === undefined) lost.abort();
        else lastRenewal = now;
      },
      () => {
        if (clock.now() >= lastRenewal + LEASE_MS) lost.abort();
      },
    );
  }
  try {
    return await work(AbortSignal.any([signal, lost.signal]));
  } finally {
    cancel();
    // While the store is unavailable, the address stays locked until the lease expires.
    await transfers.take(id, { holder }).catch(() => undefined);
  }
}
