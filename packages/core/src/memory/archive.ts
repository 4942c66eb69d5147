import type { ArchivedCharge, PassToArchive } from '../ports/ledger.ts';
import { type Reservation, type ReservationLog, toCharge } from './reservation.ts';

export interface ChargeArchiveOptions {
  /** Returns all reservations that the ledger keeps. */
  readonly list: () => readonly Reservation[];
  /** Calls `act` with each log that has the reservation. */
  readonly eachLog: (reservation: Reservation, act: (log: ReservationLog) => void) => void;
  readonly hasEnded: (reservation: Reservation) => boolean;
}

/** Replaces old reservations by their sums. Their keys stay in the maps of the ledger. */
export interface ChargeArchive {
  /** Those from before a time that have ended, oldest first. */
  find(before: number): readonly Reservation[];
  /** @returns the number of moved reservations. */
  move(
    page: { readonly before: number; readonly limit: number },
    pass: PassToArchive,
    isRecord: (reservation: Reservation) => boolean,
  ): Promise<number>;
  /** Undoes the move of a released hold that is settled now. */
  restore(reservation: Reservation): void;
}

export function createChargeArchive({ list, eachLog, hasEnded }: ChargeArchiveOptions): ChargeArchive {
  const find = (before: number): readonly Reservation[] =>
    list()
      .filter((reservation) => reservation.createdAt < before && hasEnded(reservation))
      .sort((a, b) => a.createdAt - b.createdAt || a.number - b.number);

  return {
    find,

    async move({ before, limit }, pass, isRecord) {
      const found = find(before).slice(0, limit);
      if (found.length === 0) return 0;
      const states = new Map(found.map((reservation) => [reservation, reservation.status]));
      await pass(found.map((reservation) => toArchivedCharge(reservation, isRecord(reservation))));
      let moved = 0;
      for (const [reservation, status] of states) {
        // A late settlement came in between, or another call has moved it.
        if (reservation.status !== status || reservation.isArchived) continue;
        eachLog(reservation, (log) => log.archive(reservation));
        reservation.isArchived = true;
        moved += 1;
      }
      return moved;
    },

    restore(reservation) {
      if (!reservation.isArchived) return;
      eachLog(reservation, (log) => log.restore(reservation));
      reservation.isArchived = false;
    },
  };
}

function toArchivedCharge(reservation: Reservation, isRecord: boolean): ArchivedCharge {
  const { key, settledAt } = reservation;
  return {
    ...toCharge(reservation),
    kind: isRecord ? 'record' : 'hold',
    key,
    ...(settledAt !== undefined && { settledAt }),
  };
}
