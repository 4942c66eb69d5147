import type { EventLog, Json, SequencedEvent } from '@questline/core/ports';
import { expect } from 'vitest';
import type { Case, Subject } from '../suite.ts';

export interface EventLogSubject extends Subject {
  readonly eventLog: EventLog;
  /** Further handles on the same engine, like other processes. */
  readonly peers?: readonly EventLog[];
}

export type EventLogCase = Case<EventLogSubject>;

/** Longer than any case takes. */
export const LONG_MS = 86_400_000;

/** Appends a batch and checks that it was added. */
export async function add(
  log: EventLog,
  stream: string,
  after: number,
  events: readonly Json[],
  { attempt = 1, keepMs = LONG_MS } = {},
): Promise<void> {
  const result = await log.append(stream, { attempt, after, events, keepMs });
  expect(result).toEqual({ isAppended: true, last: after + events.length, attempt });
}

/** Reads all pages after a sequence and checks that sequences have no gap. */
export async function readAll(log: EventLog, stream: string, after = 0): Promise<Json[]> {
  const events: Json[] = [];
  for (;;) {
    const page: readonly SequencedEvent[] | undefined = await log.read(stream, after + events.length);
    expect(page, 'a page after a sequence of the stream').toBeDefined();
    if (page === undefined || page.length === 0) return events;
    expect(page.length).toBeLessThanOrEqual(1000);
    for (const { sequence, event } of page) {
      events.push(event);
      expect(sequence).toBe(after + events.length);
    }
  }
}

export function numbered(count: number, from = 1): Json[] {
  return Array.from({ length: count }, (_, at) => ({ type: 'text', text: `${from + at} ` }));
}
