import { guardCases } from './store/guards.ts';
import { listCases } from './store/lists.ts';
import { pageCases } from './store/pages.ts';
import { abortCases, raceCases } from './store/races.ts';
import { randomCases } from './store/random.ts';
import { recordCases } from './store/records.ts';
import { referenceCases } from './store/references.ts';
import { removalCases } from './store/removals.ts';
import type { StoreCase, StoreSubject } from './store/subject.ts';
import { transactionCases } from './store/transactions.ts';
import { writeAllCases } from './store/write-all.ts';
import { registerSuite, type SuiteOptions } from './suite.ts';

export { type StoreCase, type StoreSubject, storeSuiteCollections } from './store/subject.ts';

/** The cases of every store. */
export const storeCases: readonly StoreCase[] = [
  ...recordCases,
  ...guardCases,
  ...listCases,
  ...pageCases,
  ...referenceCases,
  ...removalCases,
  ...transactionCases,
  ...writeAllCases,
  ...raceCases,
  ...abortCases,
  ...randomCases,
];

/** Registers the conformance suite of `Store` as tests. Its collections are `storeSuiteCollections`. */
export function storeSuite(options: SuiteOptions<StoreSubject>): void {
  registerSuite('store', storeCases, options);
}
