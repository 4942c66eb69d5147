import type { SequencedEvent } from '../ports/event-log.ts';
import type { Json } from '../ports/store.ts';

/** Consecutive events of one stream, stored together. */
export interface EventBatch {
  /** The sequence of the first event. */
  readonly first: number;
  readonly last: number;
  readonly events: readonly Json[];
}

const MAX_PAGE = 1000;
/** Maximum size of joined batches, in UTF-16 code units of JSON. */
const MAX_JOINED = 65_536;

/**
 * Returns the events after a sequence. @param batches in order, from the one that contains this sequence. @returns
 * undefined if there is none that does.
 */
export function toPage(batches: readonly EventBatch[], after: number): SequencedEvent[] | undefined {
  const [head] = batches;
  if (head === undefined) return after === 0 ? [] : undefined;
  if (head.first > after + 1 || (batches.at(-1) ?? head).last < after) return undefined;
  const page: SequencedEvent[] = [];
  for (const { first, events } of batches) {
    for (const [index, event] of events.entries()) {
      if (first + index > after) page.push({ sequence: first + index, event });
      if (page.length === MAX_PAGE) return page;
    }
  }
  return page;
}

/** Joins batches to fewer ones. Sequences do not change. @param batches in any order. */
export function joinBatches(batches: readonly EventBatch[]): EventBatch[] {
  const joined: { first: number; last: number; events: Json[]; size: number }[] = [];
  for (const { first, last, events } of [...batches].sort((a, b) => a.first - b.first)) {
    const size = JSON.stringify(events).length;
    const open = joined.at(-1);
    if (open !== undefined && open.last + 1 === first && open.size + size <= MAX_JOINED) {
      open.events.push(...events);
      open.last = last;
      open.size += size;
    } else joined.push({ first, last, events: [...events], size });
  }
  return joined.map(({ first, last, events }) => ({ first, last, events }));
}
