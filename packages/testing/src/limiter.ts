import { abortCases, raceCases } from './limiter/races.ts';
import { randomCases } from './limiter/random.ts';
import { severalCases } from './limiter/several.ts';
import type { LimiterCase, LimiterSubject } from './limiter/subject.ts';
import { windowCases } from './limiter/windows.ts';
import { registerSuite, type SuiteOptions } from './suite.ts';

export type { LimiterCase, LimiterSubject } from './limiter/subject.ts';

/** The cases of every rate limiter. */
export const limiterCases: readonly LimiterCase[] = [
  ...windowCases,
  ...severalCases,
  ...raceCases,
  ...abortCases,
  ...randomCases,
];

/** Registers the conformance suite of `RateLimiter` as tests. */
export function limiterSuite(options: SuiteOptions<LimiterSubject>): void {
  registerSuite('rate limiter', limiterCases, options);
}
