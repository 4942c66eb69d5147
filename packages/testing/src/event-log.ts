import { appendingCases } from './event-log/appending.ts';
import { keepingCases } from './event-log/keeping.ts';
import { raceCases } from './event-log/races.ts';
import type { EventLogCase, EventLogSubject } from './event-log/subject.ts';
import { registerSuite, type SuiteOptions } from './suite.ts';

export type { EventLogCase, EventLogSubject } from './event-log/subject.ts';

/** The cases of every event log. */
export const eventLogCases: readonly EventLogCase[] = [...appendingCases, ...keepingCases, ...raceCases];

/** Registers the conformance suite of `EventLog` as tests. */
export function eventLogSuite(options: SuiteOptions<EventLogSubject>): void {
  registerSuite('event log', eventLogCases, options);
}
