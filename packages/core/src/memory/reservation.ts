import type { Charge, ChargeFilter, Hold, HoldRequest, Usage } from '../ports/ledger.ts';
import type { HeapItem } from './heap.ts';

/** What counts against a spend cap. */
export interface CapState {
  charged: number;
  held: number;
}

/** One paid call as the ledger keeps it: first a hold, then a charge. */
export interface Reservation extends HeapItem {
  /** Counts the reservations of one ledger. */
  readonly number: number;
  /** The caller's key, and the id of the hold: unique already, so that one map finds it by either. */
  readonly key: string;
  readonly account: string;
  readonly operation: string;
  readonly model: string | undefined;
  readonly keyId: string | undefined;
  readonly userId: string | undefined;
  readonly requestId: string | undefined;
  /** What was held, whatever became of it. */
  readonly reserved: number;
  readonly createdAt: number;
  readonly cap: CapState | undefined;
  status: Charge['status'];
  charged: number;
  expiresAt: number;
  usage: Usage | undefined;
  /** The sweeps that had run when it lapsed by itself: the next one counts it. */
  lapsedIn: number | undefined;
}

export function createReservation(
  number: number,
  createdAt: number,
  request: HoldRequest,
  cap: CapState | undefined,
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
    status: 'reserved',
    charged: 0,
    expiresAt: request.expiresAt,
    usage: undefined,
    lapsedIn: undefined,
  };
}

export function toHold(reservation: Reservation): Hold {
  const { key, account, reserved, expiresAt } = reservation;
  return { id: key, account, amount: reserved, expiresAt };
}

export function toCharge(reservation: Reservation): Charge {
  const { number, account, status, operation, model, keyId, userId, requestId, usage, createdAt } =
    reservation;
  return {
    id: number.toString(16).padStart(24, '0'),
    account,
    status,
    amount: status === 'reserved' ? reservation.reserved : reservation.charged,
    operation,
    ...(model !== undefined && { model }),
    ...(keyId !== undefined && { keyId }),
    ...(userId !== undefined && { userId }),
    ...(requestId !== undefined && { requestId }),
    ...(usage !== undefined && { usage: { ...usage } }),
    createdAt,
  };
}

/** Reservations in the order they were made; the oldest ended ones are dropped beyond `retain`. */
export interface ReservationLog {
  push(reservation: Reservation): void;
  newest(filter: ChargeFilter, limit: number): Reservation[];
  /** Settled since an instant. What was dropped counts as long as the instant lies before all of it. */
  spent(filter: ChargeFilter, since: number): number;
}

export function createReservationLog(
  retain: number,
  onDrop?: (dropped: Reservation) => void,
): ReservationLog {
  let items: Reservation[] = [];
  let trimAt = 2 * retain;
  let dropped: { since: number; charged: number } | undefined;

  /** Halves the log at a time, so that a push costs the same on average however long the log is. */
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
      return sum;
    },
  };
}

function isWanted(reservation: Reservation, filter: ChargeFilter): boolean {
  return (
    (filter.account === undefined || filter.account === reservation.account) &&
    (filter.keyId === undefined || filter.keyId === reservation.keyId) &&
    (filter.userId === undefined || filter.userId === reservation.userId)
  );
}
