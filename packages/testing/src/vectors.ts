import { registerSuite, type SuiteOptions } from './suite.ts';
import { abortCases, raceCases, randomCases } from './vectors/races.ts';
import { searchCases } from './vectors/searches.ts';
import type { VectorsCase, VectorsSubject } from './vectors/subject.ts';
import { writeCases } from './vectors/writes.ts';

export type { VectorsCase, VectorsSubject } from './vectors/subject.ts';

/** The cases of every vector index. */
export const vectorsCases: readonly VectorsCase[] = [
  ...searchCases,
  ...writeCases,
  ...raceCases,
  ...abortCases,
  ...randomCases,
];

/** Registers the conformance suite of `VectorIndex` as tests. */
export function vectorsSuite(options: SuiteOptions<VectorsSubject>): void {
  registerSuite('vector index', vectorsCases, options);
}
