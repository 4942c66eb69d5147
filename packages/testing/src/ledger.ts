import { abortCases } from './ledger/aborts.ts';
import { archiveCases } from './ledger/archive.ts';
import { archiveRaceCases } from './ledger/archive-races.ts';
import { archiveRandomCases } from './ledger/archive-random.ts';
import { capCases } from './ledger/caps.ts';
import { historyCases } from './ledger/histories.ts';
import { holdCapCases } from './ledger/hold-caps.ts';
import { holdCapRaceCases } from './ledger/hold-caps-races.ts';
import { holdCases } from './ledger/holds.ts';
import { lapseCases } from './ledger/lapses.ts';
import { raceCases } from './ledger/races.ts';
import { randomCases } from './ledger/random.ts';
import { reportCases } from './ledger/reports.ts';
import { settlementCases } from './ledger/settlements.ts';
import type { LedgerCase, LedgerSubject } from './ledger/subject.ts';
import { registerSuite, type SuiteOptions } from './suite.ts';

export type { LedgerCase, LedgerSubject } from './ledger/subject.ts';

/** The cases of every credit ledger. */
export const ledgerCases: readonly LedgerCase[] = [
  ...holdCases,
  ...settlementCases,
  ...lapseCases,
  ...capCases,
  ...holdCapCases.map(withCaps),
  ...historyCases,
  ...reportCases,
  ...archiveCases.map(withArchive),
  ...raceCases,
  ...archiveRaceCases.map(withArchive),
  ...holdCapRaceCases.map(withCaps),
  ...abortCases,
  ...randomCases,
  ...archiveRandomCases.map(withArchive),
];

/** Ledgers without `capUsage` have no caps beside the spend cap. */
function withCaps(one: LedgerCase): LedgerCase {
  return {
    ...one,
    excuse: ({ ledger }) => (ledger.capUsage ? undefined : 'the ledger has no caps of budgets'),
  };
}

/** Ledgers without `archiveCharges` keep all charges. */
function withArchive(one: LedgerCase): LedgerCase {
  return {
    ...one,
    excuse: ({ ledger }) => (ledger.archiveCharges ? undefined : 'the ledger has no archive'),
  };
}

/** Registers the conformance suite of `CreditLedger` as tests. */
export function ledgerSuite(options: SuiteOptions<LedgerSubject>): void {
  registerSuite('credit ledger', ledgerCases, options);
}
