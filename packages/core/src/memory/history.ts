import type { LedgerEntry } from '../ports/ledger.ts';

interface Line {
  readonly kind: LedgerEntry['kind'];
  readonly amount: number;
  readonly key: string;
  readonly reason: string;
  readonly createdAt: number;
}

/** The lines of one account. Beyond `retain`, the oldest are folded into one opening line, so the sum stays. */
export interface History {
  push(line: Line): void;
  /** Newest first. */
  page(limit: number, before: string | undefined): LedgerEntry[];
}

/**
 * @param number tells the account from all others of this ledger; it leads the ids of its entries, the line's own
 * number follows, so that a page is found without looking.
 */
export function createHistory(account: string, number: number, retain: number): History {
  const idPrefix = number.toString(16).padStart(8, '0');
  let lines: Line[] = [];
  /** The number of `lines[0]`. */
  let first = 1;

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
      const end = before === undefined ? lines.length : placeOf(before, idPrefix) - first;
      const page: LedgerEntry[] = [];
      for (let at = Math.min(end, lines.length) - 1; at >= 0 && page.length < limit; at -= 1) {
        const line = lines[at];
        if (line === undefined) break;
        const id = idPrefix + (first + at).toString(16).padStart(16, '0');
        page.push({ id, account, ...line });
      }
      return page;
    },
  };
}

/** The number of a line by its id; one of another account stands before everything. */
function placeOf(id: string, idPrefix: string): number {
  const number = id.startsWith(idPrefix) ? Number.parseInt(id.slice(idPrefix.length), 16) : 0;
  return Number.isNaN(number) ? 0 : number;
}
