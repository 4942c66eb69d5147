import type { Clock } from '../ports/clock.ts';
import type { CreditLedger, Hold } from '../ports/ledger.ts';
import { createBag } from '../shared/bag.ts';
import type { Incident } from '../shared/incident.ts';

/** Milliseconds between two beats. */
const BEAT_MS = 5_000;
/** Lease of a hold, in milliseconds: a hold of a process that ends without a shutdown expires within this time. */
const HEARTBEAT_LEASE_MS = 25_000;
/** Maximum number of holds in one statement. */
const BATCH = 500;

/** Renews the holds of the calls that run in this process: all of them in one step per beat. */
export interface HoldHeartbeat {
  /** Lease of a hold that the heartbeat renews, in milliseconds. Undefined: the ledger has no `renewAll`. */
  readonly leaseMs: number | undefined;
  /** Renews the hold until the returned function is called. */
  keep(hold: Hold): () => void;
}

interface HoldHeartbeatServices {
  readonly ledger: Pick<CreditLedger, 'renewAll'>;
  readonly clock: Clock;
  readonly onError: (incident: Incident) => void;
}

/**
 * A call that ends before the second beat needs no renewal. A beat that fails is repeated at the next one, before the
 * leases end.
 */
export function createHoldHeartbeat({ ledger, clock, onError }: HoldHeartbeatServices): HoldHeartbeat {
  const kept = createBag<Hold>();
  let stop: (() => void) | undefined;

  const renew = async (due: readonly Hold[]): Promise<void> => {
    try {
      await ledger.renewAll?.(due, clock.now() + HEARTBEAT_LEASE_MS);
    } catch (error) {
      onError({ operation: 'hold-heartbeat', requestId: '', error });
    }
  };

  const beat = (): void => {
    stop = clock.timer(BEAT_MS, beat);
    const before = clock.now() + HEARTBEAT_LEASE_MS - BEAT_MS;
    // A renewed hold is due at every beat, because its lease is counted from a beat.
    const due = kept.values().filter(({ expiresAt }) => expiresAt <= before);
    for (let at = 0; at < due.length; at += BATCH) void renew(due.slice(at, at + BATCH));
  };

  return {
    leaseMs: ledger.renewAll === undefined ? undefined : HEARTBEAT_LEASE_MS,
    keep(hold) {
      const remove = kept.add(hold);
      stop ??= clock.timer(BEAT_MS, beat);
      return () => {
        remove();
        if (kept.size() > 0) return;
        stop?.();
        stop = undefined;
      };
    },
  };
}
