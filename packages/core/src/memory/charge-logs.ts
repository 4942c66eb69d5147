import type { ChargeFilter } from '../ports/ledger.ts';
import type { Accounts } from './accounts.ts';
import { createReservationLog, type Reservation, type ReservationLog } from './reservation.ts';

/** The charges of a ledger in memory, by account, API key and user. */
export interface ChargeLogs {
  /** Returns the smallest logs that contain all charges of a filter. */
  select(filter: ChargeFilter): readonly ReservationLog[];
  /** Calls `act` for each log of a charge. */
  each(reservation: Reservation, act: (log: ReservationLog) => void): void;
  push(reservation: Reservation): void;
}

export function createChargeLogs(accounts: Accounts, retain: number): ChargeLogs {
  const ofKeys = new Map<string, ReservationLog>();
  const ofUsers = new Map<string, ReservationLog>();

  const open = (logs: Map<string, ReservationLog>, name: string): ReservationLog => {
    let log = logs.get(name);
    if (log === undefined) {
      log = createReservationLog(retain);
      logs.set(name, log);
    }
    return log;
  };

  const find = ({ account, keyId, userId }: ChargeFilter): ReservationLog | undefined => {
    if (keyId !== undefined) return ofKeys.get(keyId);
    if (account !== undefined) return accounts.get(account)?.charges;
    return userId === undefined ? undefined : ofUsers.get(userId);
  };

  const each: ChargeLogs['each'] = ({ account, keyId, userId }, act) => {
    act(accounts.open(account).charges);
    if (keyId !== undefined) act(open(ofKeys, keyId));
    if (userId !== undefined) act(open(ofUsers, userId));
  };

  return {
    select(filter) {
      const { account, keyId, userId } = filter;
      if (keyId === undefined && account === undefined && userId === undefined) {
        return [...accounts.values()].map(({ charges }) => charges);
      }
      const log = find(filter);
      return log ? [log] : [];
    },
    each,
    push: (reservation) => each(reservation, (log) => log.push(reservation)),
  };
}
