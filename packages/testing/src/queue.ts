import { jobCases } from './queue/jobs.ts';
import { leaseCases } from './queue/leases.ts';
import { ownerCases } from './queue/owners.ts';
import { abortCases, raceCases } from './queue/races.ts';
import { randomCases } from './queue/random.ts';
import type { QueueCase, QueueSubject } from './queue/subject.ts';
import { registerSuite, type SuiteOptions } from './suite.ts';

export type { QueueCase, QueueSubject } from './queue/subject.ts';

/** The cases of every job queue. */
export const queueCases: readonly QueueCase[] = [
  ...jobCases,
  ...leaseCases,
  ...ownerCases,
  ...raceCases,
  ...abortCases,
  ...randomCases,
];

/** Registers the conformance suite of `JobQueue` as tests. */
export function queueSuite(options: SuiteOptions<QueueSubject>): void {
  registerSuite('job queue', queueCases, options);
}
