import type { Charge, ChargeDetails, ChargeFilter, Hold, HoldRequest, Usage } from '../ports/ledger.ts';
import { type HoldCaps, NO_CAPS } from './caps.ts';
import type { HeapItem } from './heap.ts';
import { createHourSums, type SummedCalls } from './usage-sums.ts';

/** One paid call: first a hold, then a charge. */
export interface Reservation extends HeapItem, HoldCaps {
  /** Number of the reservation within the ledger. */
  readonly number: number;
  /** The idempotency key, also used as the hold id, so that one map serves both. */
  readonly key: string;
  readonly account: string;
  readonly operation: string;
  readonly model: string | undefined;
  readonly keyId: string | undefined;
  readonly userId: string | undefined;
  readonly requestId: string | undefined;
  /** The held amount, also after the end. */
  readonly reserved: number;
  readonly createdAt: number;
  status: Charge['status'];
  charged: number;
  expiresAt: number;
  usage: Usage | undefined;
  /** The number of sweeps before it expired; the next sweep counts it. */
  lapsedIn: number | undefined;
  /** The time of the settlement. */
  settledAt: number | undefined;
  /** Whether only its sums and its key are left. */
  isArchived: boolean;
}

export function createReservation(
  number: number,
  createdAt: number,
  request: HoldRequest,
  { cap, caps }: HoldCaps = NO_CAPS,
): Reservation {
  const { details } = request;
  return {
    slot: -1,
    number,
    key: request.key,
    account: request.account,
    operation: details.operation,
    model: details.model,
    keyId: details.keyId,
    userId: details.userId,
    requestId: details.requestId,
    reserved: request.amount,
    createdAt,
    cap,
    caps,
    status: 'reserved',
    charged: 0,
    expiresAt: request.expiresAt,
    usage: undefined,
    lapsedIn: undefined,
    settledAt: undefined,
    isArchived: false,
  };
}

export function toHold(reservation: Reservation): Hold {
  const { key, account, reserved, expiresAt } = reservation;
  return { id: key, account, amount: reserved, expiresAt };
}

export function getDetails({ operation, model, keyId, userId, requestId }: Reservation): ChargeDetails {
  return {
    operation,
    ...(model !== undefined && { model }),
    ...(keyId !== undefined && { keyId }),
    ...(userId !== undefined && { userId }),
    ...(requestId !== undefined && { requestId }),
  };
}

export function toCharge(reservation: Reservation): Charge {
  const { number, account, status, usage, createdAt } = reservation;
  return {
    id: number.toString(16).padStart(24, '0'),
    account,
    status,
    amount: status === 'reserved' ? reservation.reserved : reservation.charged,
    ...getDetails(reservation),
    ...(usage !== undefined && { usage: { ...usage } }),
    createdAt,
  };
}

/** Reservations in order of creation. The oldest closed ones are evicted above `retain`. */
export interface ReservationLog {
  push(reservation: Reservation): void;
  newest(filter: ChargeFilter, limit: number): Reservation[];
  /** Sum of settled charges since a time. Evicted charges count if the time is before all of them. */
  spent(filter: ChargeFilter, since: number): number;
  /** The settled ones that were created in a range of time, and sums of archived ones; evicted ones are missing. */
  settled(filter: ChargeFilter, from: number, to: number): SummedCalls[];
  /** All that are neither evicted nor archived, oldest first. */
  list(): readonly Reservation[];
  /** Replaces a reservation that has ended by its sums. */
  archive(reservation: Reservation): void;
  /** Adds an archived reservation, which is in no sum, at its place again. */
  restore(reservation: Reservation): void;
}

export function createReservationLog(
  retain: number,
  onDrop?: (dropped: Reservation) => void,
): ReservationLog {
  let items: Reservation[] = [];
  let trimAt = 2 * retain;
  const archived = createHourSums();
  let dropped: { since: number; charged: number } | undefined;

  /** Removes half of the log at a time, for a constant amortized cost of `push`. */
  const trim = (): void => {
    const old = items.slice(0, items.length - retain);
    const ended = old.filter((reservation) => reservation.status !== 'reserved');
    for (const reservation of ended) {
      dropped ??= { since: reservation.createdAt, charged: 0 };
      dropped.charged += reservation.charged;
      onDrop?.(reservation);
    }
    items = [...old.filter((item) => item.status === 'reserved'), ...items.slice(items.length - retain)];
    trimAt = items.length + retain;
  };

  return {
    push(reservation) {
      items.push(reservation);
      if (items.length >= trimAt) trim();
    },
    newest(filter, limit) {
      const found: Reservation[] = [];
      for (let at = items.length - 1; at >= 0 && found.length < limit; at -= 1) {
        const item = items[at];
        if (item !== undefined && isWanted(item, filter)) found.push(item);
      }
      return found;
    },
    spent(filter, since) {
      let sum = dropped !== undefined && since <= dropped.since ? dropped.charged : 0;
      for (let at = items.length - 1; at >= 0; at -= 1) {
        const item = items[at];
        if (item === undefined || item.createdAt < since) break;
        if (isWanted(item, filter)) sum += item.charged;
      }
      for (const hour of archived.list()) {
        if (hour.createdAt >= since && isWanted(hour, filter)) sum += hour.charged;
      }
      return sum;
    },
    settled: (filter, from, to) =>
      [...items.filter(({ status }) => status === 'settled'), ...archived.list()].filter(
        (item) => item.createdAt >= from && item.createdAt < to && isWanted(item, filter),
      ),
    list: () => items,
    archive(reservation) {
      const at = items.indexOf(reservation);
      // Evicted ones are in other sums.
      if (at < 0) return;
      items.splice(at, 1);
      if (reservation.status === 'settled') archived.add(reservation);
    },
    restore(reservation) {
      const at = items.findIndex(({ number }) => number > reservation.number);
      items.splice(at < 0 ? items.length : at, 0, reservation);
    },
  };
}

function isWanted(reservation: SummedCalls, filter: ChargeFilter): boolean {
  return (
    (filter.account === undefined || filter.account === reservation.account) &&
    (filter.keyId === undefined || filter.keyId === reservation.keyId) &&
    (filter.userId === undefined || filter.userId === reservation.userId)
  );
}
