import { assertAccount } from '../credits/accounts.ts';
import { assertHoldCaps } from '../credits/hold-caps.ts';
import type { Clock } from '../ports/clock.ts';
import type { CreditLedger, Hold, HoldOutcome, Settlement } from '../ports/ledger.ts';
import { createAccounts, getBalance } from './accounts.ts';
import { createChargeArchive } from './archive.ts';
import { countCharged, countHeld, createCapStates } from './caps.ts';
import { createChargeLogs } from './charge-logs.ts';
import { createHeap } from './heap.ts';
import { createReservation, type Reservation, toCharge, toHold } from './reservation.ts';
import { sumByGroup } from './usage-sums.ts';

export interface MemoryLedgerOptions {
  readonly clock: Clock;
  /**
   * Minimum number of entries and charges to keep, per account, API key and user; up to twice as many may be kept.
   * Older entries are merged into one opening entry, so that entries still add up to the balance. Older closed
   * charges are evicted: settling or releasing them again does nothing, and their keys can create new holds. Default
   * 10,000.
   */
  readonly retain?: number;
}

/** Creates a ledger in memory, for tests, benchmarks and evaluation. A restart loses all data. */
export function createMemoryLedger({ clock, retain = 10_000 }: MemoryLedgerOptions): CreditLedger {
  const caps = createCapStates();
  const byKey = new Map<string, Reservation>();
  const recordedKeys = new Map<string, Reservation>();
  const open = createHeap<Reservation>((a, b) => a.expiresAt < b.expiresAt);
  let reservations = 0;
  let position = 0;
  let sweeps = 0;
  let unswept = 0;

  const forget = (reservation: Reservation): void => {
    if (byKey.get(reservation.key) === reservation) byKey.delete(reservation.key);
    if (recordedKeys.get(reservation.key) === reservation) recordedKeys.delete(reservation.key);
    accounts.open(reservation.account).hasForgotten = true;
  };
  const accounts = createAccounts(retain, forget);
  const logs = createChargeLogs(accounts, retain);

  /** Subtracts a hold from its account and caps. The caller sets the new status. */
  const free = (reservation: Reservation): void => {
    open.remove(reservation);
    accounts.open(reservation.account).held -= reservation.reserved;
    countHeld(reservation, -1);
  };

  /** Releases expired holds. Every call starts with it, so an expired hold never counts. */
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

  const archive = createChargeArchive({
    list: () => logs.select({}).flatMap((log) => log.list()),
    eachLog: logs.each,
    // A lapsed hold ends with the sweep that counts it.
    hasEnded: ({ status, lapsedIn }) => status !== 'reserved' && lapsedIn !== sweeps,
  });

  /** Returns the reservation of a hold, or undefined if it was evicted. */
  const find = (hold: Hold): Reservation | undefined => {
    const reservation = byKey.get(hold.id);
    if (reservation === undefined && accounts.get(hold.account)?.hasForgotten !== true) {
      throw new Error('the hold is unknown');
    }
    return reservation;
  };

  /** Closes an open or expired hold. */
  const close = (reservation: Reservation, status: 'settled' | 'released'): void => {
    if (reservation.status === 'reserved') free(reservation);
    else if (reservation.lapsedIn === sweeps) unswept -= 1;
    reservation.lapsedIn = undefined;
    reservation.status = status;
  };

  return {
    async balance(name, options) {
      options?.signal?.throwIfAborted();
      lapse();
      return getBalance(accounts.get(name));
    },

    async hold(request, options): Promise<HoldOutcome> {
      options?.signal?.throwIfAborted();
      const { amount } = request;
      assertAmount(amount, 0);
      assertHoldCaps(request);
      const now = lapse();
      const known = byKey.get(request.key);
      if (known !== undefined) return { outcome: 'held', hold: toHold(known) };

      const { available } = getBalance(accounts.get(request.account));
      if (available < amount && request.ignoresBalance !== true)
        return { outcome: 'insufficient_credits', available, required: amount };
      const found = caps.find(request);
      if ('outcome' in found) return found;
      const reservation = createReservation(++reservations, now, request, found);
      countHeld(reservation, 1);
      accounts.open(request.account).held += amount;
      byKey.set(reservation.key, reservation);
      open.push(reservation);
      logs.push(reservation);
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

    async renewAll(holds, expiresAt, options) {
      options?.signal?.throwIfAborted();
      lapse();
      let renewed = 0;
      for (const { id } of holds) {
        const reservation = byKey.get(id);
        if (reservation?.status !== 'reserved') continue;
        reservation.expiresAt = expiresAt;
        open.moved(reservation);
        renewed += 1;
      }
      return renewed;
    },

    async settle(hold, actual, usage): Promise<Settlement> {
      assertAmount(actual, 0);
      const now = lapse();
      const reservation = find(hold);
      if (reservation === undefined) return { charged: 0, first: false };
      if (reservation.status === 'settled') return { charged: reservation.charged, first: false };
      archive.restore(reservation);
      close(reservation, 'settled');
      reservation.settledAt = now;
      reservation.charged = actual;
      reservation.usage = usage && { ...usage };
      countCharged(reservation);
      if (actual > 0) {
        const account = accounts.open(reservation.account);
        account.posted -= actual;
        const { key, operation: reason } = reservation;
        position += 1;
        account.history.push({
          kind: 'charge',
          amount: -actual,
          key,
          reason,
          createdAt: now,
          position,
          charge: reservation,
        });
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
      const now = clock.now();
      const request = { account, amount: 0, key, expiresAt: now, details };
      const reservation = createReservation(++reservations, now, request);
      reservation.status = 'settled';
      reservation.settledAt = now;
      reservation.usage = usage && { ...usage };
      recordedKeys.set(key, reservation);
      logs.push(reservation);
    },

    async grant({ account: name, amount, key, reason }, options) {
      options?.signal?.throwIfAborted();
      assertAccount(name);
      assertAmount(amount, Number.MIN_SAFE_INTEGER);
      const account = accounts.open(name);
      if (account.grantKeys.has(key)) return false;
      assertAmount(account.posted + amount, Number.MIN_SAFE_INTEGER);
      account.grantKeys.add(key);
      account.posted += amount;
      position += 1;
      account.history.push({ kind: 'grant', amount, key, reason, createdAt: clock.now(), position });
      return true;
    },

    async entries(name, page, options) {
      options?.signal?.throwIfAborted();
      return accounts.get(name)?.history.page(page.limit, page.before) ?? [];
    },

    async charges(filter, limit, options) {
      options?.signal?.throwIfAborted();
      lapse();
      return logs
        .select(filter)
        .flatMap((log) => log.newest(filter, limit))
        .sort((a, b) => b.createdAt - a.createdAt)
        .slice(0, limit)
        .map(toCharge);
    },

    async spent(filter, since, options) {
      options?.signal?.throwIfAborted();
      return logs.select(filter).reduce((sum, log) => sum + log.spent(filter, since), 0);
    },

    async sumCharges({ filter, from, to, groupBy, limit }, options) {
      options?.signal?.throwIfAborted();
      const charges = logs.select(filter).flatMap((log) => log.settled(filter, from, to));
      return sumByGroup(charges, groupBy).slice(0, limit);
    },

    async exportEntries({ account, after, limit }, options) {
      options?.signal?.throwIfAborted();
      const histories = [...accounts.entries()].filter(([name]) => account === undefined || account === name);
      return histories
        .flatMap(([, { history }]) => history.since(after, limit))
        .sort((a, b) => a.position - b.position)
        .slice(0, limit);
    },

    async archiveCharges(page, pass, options) {
      options?.signal?.throwIfAborted();
      lapse();
      return archive.move(page, pass, (reservation) => recordedKeys.get(reservation.key) === reservation);
    },

    async countArchivable(before, options) {
      options?.signal?.throwIfAborted();
      lapse();
      return archive.find(before).length;
    },

    async capUsed(capId, options) {
      options?.signal?.throwIfAborted();
      lapse();
      const { spent, reserved } = caps.read(capId);
      return spent + reserved;
    },

    async capUsage(capIds, options) {
      options?.signal?.throwIfAborted();
      lapse();
      return capIds.map(caps.read);
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

function assertAmount(amount: number, least: number): void {
  if (!Number.isSafeInteger(amount) || amount < least) {
    throw new RangeError(`${amount} is no amount of micro-credits`);
  }
}
