import type { Balance } from '../ports/ledger.ts';
import { createHistory, type History } from './history.ts';
import { createReservationLog, type Reservation, type ReservationLog } from './reservation.ts';

/** One account of a ledger in memory. */
export interface Account {
  posted: number;
  held: number;
  readonly history: History;
  readonly charges: ReservationLog;
  /** Never evicted, because a repeated grant would create credit. */
  readonly grantKeys: Set<string>;
  hasForgotten: boolean;
}

export interface Accounts {
  /** Returns an account, a new one for an unknown name. */
  open(name: string): Account;
  get(name: string): Account | undefined;
  values(): Iterable<Account>;
  entries(): Iterable<[string, Account]>;
}

/** @param onForgotten called for each charge that an account evicts. */
export function createAccounts(retain: number, onForgotten: (reservation: Reservation) => void): Accounts {
  const accounts = new Map<string, Account>();
  return {
    open(name) {
      let account = accounts.get(name);
      if (account === undefined) {
        account = {
          posted: 0,
          held: 0,
          history: createHistory(name, accounts.size + 1, retain),
          charges: createReservationLog(retain, onForgotten),
          grantKeys: new Set(),
          hasForgotten: false,
        };
        accounts.set(name, account);
      }
      return account;
    },
    get: (name) => accounts.get(name),
    values: () => accounts.values(),
    entries: () => accounts.entries(),
  };
}

export function getBalance(account: Account | undefined): Balance {
  if (account === undefined) return { posted: 0, held: 0, available: 0 };
  const { posted, held } = account;
  return { posted, held, available: posted - held };
}
