import { contentCases } from './objects/contents.ts';
import { linkCases } from './objects/links.ts';
import { abortCases, raceCases, randomCases } from './objects/races.ts';
import type { ObjectsCase, ObjectsSubject } from './objects/subject.ts';
import { registerSuite, type SuiteOptions } from './suite.ts';

export type { ObjectsCase, ObjectsSubject, SignedAnswer, SignedRequest } from './objects/subject.ts';

/** The cases of every object store. */
export const objectsCases: readonly ObjectsCase[] = [
  ...contentCases,
  ...linkCases,
  ...raceCases,
  ...abortCases,
  ...randomCases,
];

/** Registers the conformance suite of `ObjectStore` as tests. */
export function objectsSuite(options: SuiteOptions<ObjectsSubject>): void {
  registerSuite('object store', objectsCases, options);
}
