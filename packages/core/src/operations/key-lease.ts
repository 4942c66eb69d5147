import type { Clock } from '../ports/clock.ts';
import type { Collection, Filter } from '../ports/store.ts';
import type { IdempotencyRecord } from './idempotency-records.ts';

/** Lease of a key whose work runs. After a crash the key is free when the lease ends. */
export const KEY_LEASE_MS = 15 * 60_000;
const RENEW_EVERY_MS = KEY_LEASE_MS / 3;

/** The lease of a key, which is renewed until its work ends. */
export interface KeyLease {
  /** Matches the record only while this work owns it. */
  guard(): Filter<IdempotencyRecord>;
  /** Stops the renewal. */
  stop(): void;
}

export function keepKey(
  { records, clock }: { readonly records: Collection<IdempotencyRecord>; readonly clock: Clock },
  { id, expiresAt }: Pick<IdempotencyRecord, 'id' | 'expiresAt'>,
): KeyLease {
  /** Several after a renewal whose outcome is unknown. */
  let possible: readonly number[] = [expiresAt];
  const guard = (): Filter<IdempotencyRecord> => ({ expiresAt: { in: possible } });

  const renew = async (): Promise<void> => {
    const next = clock.now() + KEY_LEASE_MS;
    const mine = guard();
    possible = [...possible, next];
    try {
      const renewed = await records.update(id, { expiresAt: next }, mine);
      if (renewed !== undefined) possible = possible.filter((one) => one >= next);
    } catch {
      // The next renewal comes before the lease ends.
    }
  };
  const beat = (): void => {
    cancel = clock.timer(RENEW_EVERY_MS, beat);
    void renew();
  };
  let cancel = clock.timer(RENEW_EVERY_MS, beat);

  return { guard, stop: () => cancel() };
}
