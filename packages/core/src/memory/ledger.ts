import type { Clock } from '../ports/clock.ts';
import type {
  Balance,
  ChargeFilter,
  CreditLedger,
  Hold,
  HoldOutcome,
  Settlement,
  SpendCap,
} from '../ports/ledger.ts';
import { createHeap } from './heap.ts';
import { createHistory, type History } from './history.ts';
import {
  type CapState,
  createReservation,
  createReservationLog,
  type Reservation,
  type ReservationLog,
  toCharge,
  toHold,
} from './reservation.ts';

interface Account {
  posted: number;
  held: number;
  readonly history: History;
  readonly charges: ReservationLog;
  /** Never forgotten: a grant made twice would be money from nothing. */
  readonly grantKeys: Set<string>;
  hasForgotten: boolean;
}

export interface MemoryLedgerOptions {
  readonly clock: Clock;
  /**
   * How many entries and how many charges are kept at least, per account, API key and user; up to twice as many may be.
   * Older entries become one opening entry, so that entries still add up to the balance. Older charges that have ended
   * are forgotten: settling or releasing them once more does nothing, and their keys may hold anew. Default 10,000.
   */
  readonly retain?: number;
}

/** The money, in this process. A restart forgets it all: for tests, benchmarks and trying things out. */
export function createMemoryLedger({ clock, retain = 10_000 }: MemoryLedgerOptions): CreditLedger {
  const accounts = new Map<string, Account>();
  const caps = new Map<string, CapState>();
  const byKey = new Map<string, Reservation>();
  const logsOfKeys = new Map<string, ReservationLog>();
  const logsOfUsers = new Map<string, ReservationLog>();
  const recordedKeys = new Map<string, Reservation>();
  const open = createHeap<Reservation>((a, b) => a.expiresAt < b.expiresAt);
  let reservations = 0;
  let sweeps = 0;
  let unswept = 0;

  const forget = (reservation: Reservation): void => {
    if (byKey.get(reservation.key) === reservation) byKey.delete(reservation.key);
    if (recordedKeys.get(reservation.key) === reservation) recordedKeys.delete(reservation.key);
    openAccount(reservation.account).hasForgotten = true;
  };

  const openAccount = (name: string): Account => {
    let account = accounts.get(name);
    if (account === undefined) {
      account = {
        posted: 0,
        held: 0,
        history: createHistory(name, accounts.size + 1, retain),
        charges: createReservationLog(retain, forget),
        grantKeys: new Set(),
        hasForgotten: false,
      };
      accounts.set(name, account);
    }
    return account;
  };

  /** Takes a hold off what it counted against. The status to come is the caller's to set. */
  const free = (reservation: Reservation): void => {
    open.remove(reservation);
    openAccount(reservation.account).held -= reservation.reserved;
    if (reservation.cap !== undefined) reservation.cap.held -= reservation.reserved;
  };

  /** Frees what has expired by now: every call begins with it, so that a lapsed hold never counts. */
  const lapse = (): number => {
    const now = clock.now();
    for (let due = open.first(); due !== undefined && due.expiresAt <= now; due = open.first()) {
      free(due);
      due.status = 'released';
      due.lapsedIn = sweeps;
      unswept += 1;
    }
    return now;
  };

  const logsFor = (filter: ChargeFilter): readonly ReservationLog[] => {
    const { account, keyId, userId } = filter;
    let log: ReservationLog | undefined;
    if (keyId !== undefined) log = logsOfKeys.get(keyId);
    else if (account !== undefined) log = accounts.get(account)?.charges;
    else if (userId !== undefined) log = logsOfUsers.get(userId);
    else return [...accounts.values()].map(({ charges }) => charges);
    return log ? [log] : [];
  };

  const write = (reservation: Reservation): void => {
    openAccount(reservation.account).charges.push(reservation);
    if (reservation.keyId !== undefined) logIn(logsOfKeys, reservation.keyId, retain).push(reservation);
    if (reservation.userId !== undefined) logIn(logsOfUsers, reservation.userId, retain).push(reservation);
  };

  /** What a hold has become. Undefined when it was forgotten as one of the oldest. */
  const find = (hold: Hold): Reservation | undefined => {
    const reservation = byKey.get(hold.id);
    if (reservation === undefined && accounts.get(hold.account)?.hasForgotten !== true) {
      throw new Error('the hold is unknown');
    }
    return reservation;
  };

  /** Ends an open or lapsed hold. */
  const close = (reservation: Reservation, status: 'settled' | 'released'): void => {
    if (reservation.status === 'reserved') free(reservation);
    else if (reservation.lapsedIn === sweeps) unswept -= 1;
    reservation.lapsedIn = undefined;
    reservation.status = status;
  };

  const capStateOf = (cap: SpendCap): CapState => {
    const state = caps.get(cap.id) ?? { charged: 0, held: 0 };
    caps.set(cap.id, state);
    return state;
  };

  return {
    async balance(name, options) {
      options?.signal?.throwIfAborted();
      lapse();
      return balanceOf(accounts.get(name));
    },

    async hold(request, options): Promise<HoldOutcome> {
      options?.signal?.throwIfAborted();
      const { amount, cap } = request;
      assertAmount(amount, 0);
      const now = lapse();
      const known = byKey.get(request.key);
      if (known !== undefined) return { outcome: 'held', hold: toHold(known) };

      const { available } = balanceOf(accounts.get(request.account));
      if (available < amount) return { outcome: 'insufficient_credits', available, required: amount };
      const capState = cap && capStateOf(cap);
      if (cap !== undefined && capState !== undefined) {
        const used = capState.charged + capState.held;
        if (used + amount > cap.limit) {
          return { outcome: 'spend_cap_exceeded', used, limit: cap.limit, required: amount };
        }
        capState.held += amount;
      }

      const reservation = createReservation(++reservations, now, request, capState);
      openAccount(request.account).held += amount;
      byKey.set(reservation.key, reservation);
      open.push(reservation);
      write(reservation);
      return { outcome: 'held', hold: toHold(reservation) };
    },

    async renew(hold, expiresAt, options) {
      options?.signal?.throwIfAborted();
      lapse();
      const reservation = find(hold);
      if (reservation?.status !== 'reserved') return false;
      reservation.expiresAt = expiresAt;
      open.moved(reservation);
      return true;
    },

    async settle(hold, actual, usage): Promise<Settlement> {
      assertAmount(actual, 0);
      const now = lapse();
      const reservation = find(hold);
      if (reservation === undefined) return { charged: 0, first: false };
      if (reservation.status === 'settled') return { charged: reservation.charged, first: false };
      close(reservation, 'settled');
      reservation.charged = actual;
      reservation.usage = usage && { ...usage };
      if (reservation.cap !== undefined) reservation.cap.charged += actual;
      if (actual > 0) {
        const account = openAccount(reservation.account);
        account.posted -= actual;
        const { key, operation: reason } = reservation;
        account.history.push({ kind: 'charge', amount: -actual, key, reason, createdAt: now });
      }
      return { charged: actual, first: true };
    },

    async release(hold) {
      lapse();
      const reservation = find(hold);
      if (reservation !== undefined && reservation.status !== 'settled') close(reservation, 'released');
    },

    async record({ account, key, details, usage }) {
      if (recordedKeys.has(key)) return;
      const now = lapse();
      const request = { account, amount: 0, key, expiresAt: now, details };
      const reservation = createReservation(++reservations, now, request, undefined);
      reservation.status = 'settled';
      reservation.usage = usage && { ...usage };
      recordedKeys.set(key, reservation);
      write(reservation);
    },

    async grant({ account: name, amount, key, reason }, options) {
      options?.signal?.throwIfAborted();
      assertAmount(amount, Number.MIN_SAFE_INTEGER);
      const account = openAccount(name);
      if (account.grantKeys.has(key)) return false;
      assertAmount(account.posted + amount, Number.MIN_SAFE_INTEGER);
      account.grantKeys.add(key);
      account.posted += amount;
      account.history.push({ kind: 'grant', amount, key, reason, createdAt: clock.now() });
      return true;
    },

    async entries(name, page, options) {
      options?.signal?.throwIfAborted();
      return accounts.get(name)?.history.page(page.limit, page.before) ?? [];
    },

    async charges(filter, limit, options) {
      options?.signal?.throwIfAborted();
      lapse();
      return logsFor(filter)
        .flatMap((log) => log.newest(filter, limit))
        .sort((a, b) => b.createdAt - a.createdAt)
        .slice(0, limit)
        .map(toCharge);
    },

    async spent(filter, since, options) {
      options?.signal?.throwIfAborted();
      return logsFor(filter).reduce((sum, log) => sum + log.spent(filter, since), 0);
    },

    async capUsed(capId, options) {
      options?.signal?.throwIfAborted();
      lapse();
      const cap = caps.get(capId);
      return cap === undefined ? 0 : cap.charged + cap.held;
    },

    async sweep(options) {
      options?.signal?.throwIfAborted();
      lapse();
      const swept = unswept;
      sweeps += 1;
      unswept = 0;
      return swept;
    },
  };
}

function balanceOf(account: Account | undefined): Balance {
  if (account === undefined) return { posted: 0, held: 0, available: 0 };
  const { posted, held } = account;
  return { posted, held, available: posted - held };
}

function logIn(logs: Map<string, ReservationLog>, name: string, retain: number): ReservationLog {
  let log = logs.get(name);
  if (log === undefined) {
    log = createReservationLog(retain);
    logs.set(name, log);
  }
  return log;
}

function assertAmount(amount: number, least: number): void {
  if (!Number.isSafeInteger(amount) || amount < least) {
    throw new RangeError(`${amount} is no amount of micro-credits`);
  }
}
