import type { CollectionDefinition, CollectionShape, Patch, StoredRecord } from '../ports/store.ts';
import type { NewEvent } from './event.ts';

/** A change of one record. `before` is absent for a new record. */
export interface RecordChange<R> {
  readonly before: R | undefined;
  readonly after: R;
}

/** Derives events from the changes of one collection, so that every code path that makes the change sends them. */
export interface EventSource<R extends StoredRecord = StoredRecord> {
  readonly collection: CollectionShape;
  /** Whether new records may be events. Default false. */
  readonly inserts?: boolean;
  /** Whether a patch may be an event. Other patches are written without a transaction. */
  matches(patch: Patch<R>): boolean;
  toEvents(change: RecordChange<R>): readonly NewEvent[];
}

/** Checks a source against its record type. */
export function defineEventSource<R extends StoredRecord>(
  source: Omit<EventSource<R>, 'collection'> & { readonly collection: CollectionDefinition<R> },
): EventSource {
  return source as unknown as EventSource;
}
