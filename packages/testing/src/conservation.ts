import type { CreditLedger, LedgerEntry } from '@questline/core/ports';

export interface ConservationReport {
  /** Sums over all the accounts, in micro-credits. */
  readonly granted: number;
  readonly charged: number;
  readonly posted: number;
  readonly held: number;
  readonly entries: number;
  /** The sum of the absolute differences between balances, entries, charges and grants. Must be 0. */
  readonly drift: number;
}

const PAGE = 500;

/**
 * Recomputes every account from its entries: their sum must equal the balance, their grants the sum of grants, and
 * their charges the spending that the ledger reports.
 * A ledger that merges old entries into an opening one must retain all entries of the run.
 * @param grants every grant once; a repeated key counts once.
 */
export async function checkConservation(
  ledger: CreditLedger,
  accounts: readonly string[],
  grants: readonly { readonly account: string; readonly amount: number }[],
): Promise<ConservationReport> {
  const report = { granted: 0, charged: 0, posted: 0, held: 0, entries: 0, drift: 0 };
  for (const account of new Set(accounts)) {
    const { posted, held, available } = await ledger.balance(account);
    const entries = await allEntries(ledger, account);
    const granted = addUp(entries.filter(({ kind }) => kind === 'grant'));
    const charged = -addUp(entries.filter(({ kind }) => kind === 'charge'));
    const spent = await ledger.spent({ account }, 0);
    const given = addUp(grants.filter((grant) => grant.account === account));
    report.drift +=
      Math.abs(posted - (granted - charged)) +
      Math.abs(posted - held - available) +
      Math.abs(granted - given) +
      Math.abs(charged - spent) +
      (held < 0 ? -held : 0);
    report.granted += granted;
    report.charged += charged;
    report.posted += posted;
    report.held += held;
    report.entries += entries.length;
  }
  return report;
}

async function allEntries(ledger: CreditLedger, account: string): Promise<LedgerEntry[]> {
  const all: LedgerEntry[] = [];
  for (let before: string | undefined; ; ) {
    const page = await ledger.entries(account, { limit: PAGE, ...(before !== undefined && { before }) });
    const last = page.at(-1);
    if (last === undefined) return all;
    all.push(...page);
    before = last.id;
  }
}

function addUp(amounts: readonly { readonly amount: number }[]): number {
  return amounts.reduce((sum, { amount }) => sum + amount, 0);
}
