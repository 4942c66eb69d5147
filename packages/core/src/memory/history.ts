import type { ExportedEntry, LedgerEntry } from '../ports/ledger.ts';
import { getDetails, type Reservation } from './reservation.ts';

interface Line {
  readonly kind: LedgerEntry['kind'];
  readonly amount: number;
  readonly key: string;
  readonly reason: string;
  readonly createdAt: number;
  /** Its number in the whole ledger. */
  readonly position: number;
  readonly charge?: Reservation;
}

/**
 * The entries of one account. Above `retain`, the oldest entries are merged into one opening entry, so the sum stays
 * the same.
 */
export interface History {
  push(line: Line): void;
  /** Newest first. */
  page(limit: number, before: string | undefined): LedgerEntry[];
  /** Those after a position, oldest first. */
  since(after: number, limit: number): ExportedEntry[];
}

/**
 * @param number identifies the account within the ledger. Entry ids contain it, followed by the number of the entry,
 * so that a page is found without a search.
 */
export function createHistory(account: string, number: number, retain: number): History {
  const idPrefix = number.toString(16).padStart(8, '0');
  let lines: Line[] = [];
  /** The number of `lines[0]`. */
  let first = 1;

  const toId = (at: number): string => idPrefix + (first + at).toString(16).padStart(16, '0');

  const fold = (): void => {
    const cut = lines.length - retain;
    const folded = lines.slice(0, cut);
    const amount = folded.reduce((sum, line) => sum + line.amount, 0);
    const opening: Line = {
      kind: amount < 0 ? 'charge' : 'grant',
      amount,
      key: 'opening',
      reason: 'opening balance',
      createdAt: folded.at(-1)?.createdAt ?? 0,
      position: folded.at(-1)?.position ?? 0,
    };
    lines = [opening, ...lines.slice(cut)];
    first += cut - 1;
  };

  return {
    push(line) {
      lines.push(line);
      if (lines.length >= 2 * retain + 1) fold();
    },
    page(limit, before) {
      const end = before === undefined ? lines.length : getPlace(before, idPrefix) - first;
      const page: LedgerEntry[] = [];
      for (let at = Math.min(end, lines.length) - 1; page.length < limit; at -= 1) {
        const line = lines[at];
        if (line === undefined) break;
        const { position: _, charge: __, ...entry } = line;
        page.push({ id: toId(at), account, ...entry });
      }
      return page;
    },
    since(after, limit) {
      const start = lines.findIndex(({ position }) => position > after);
      if (start < 0) return [];
      return lines.slice(start, start + limit).map(({ charge, ...entry }, index) => ({
        id: toId(start + index),
        account,
        ...entry,
        ...(charge !== undefined && { details: getDetails(charge) }),
        ...(charge?.usage !== undefined && { usage: { ...charge.usage } }),
      }));
    },
  };
}

/** Returns the number of an entry by its id. An id of another account sorts before all entries, and so does one without a number. */
function getPlace(id: string, idPrefix: string): number {
  return id.startsWith(idPrefix) ? Number.parseInt(id.slice(idPrefix.length), 16) : 0;
}
