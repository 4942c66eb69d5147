import type { Collection, Filter, RemoveOptions, StoredRecord } from './store.ts';

const MAX_RECORDS = 1000;
/** Keeps each statement short: an embedded engine runs it on the event loop. */
const BATCH = 500;

/** `removeWhere` of the collection, or of a store that was written without it: finds and takes the records. */
export async function removeWhere<R extends StoredRecord>(
  collection: Pick<Collection<R>, 'find' | 'take' | 'removeWhere'>,
  filter: Filter<R>,
  options: RemoveOptions = {},
): Promise<number> {
  if (collection.removeWhere !== undefined) return collection.removeWhere(filter, options);
  const { limit = MAX_RECORDS, ...callOptions } = options;
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_RECORDS) {
    throw new RangeError(`a limit of ${limit} is not within 1..${MAX_RECORDS}`);
  }
  let removed = 0;
  for (;;) {
    const wanted = limit - removed;
    const found = await collection.find(filter, { ...callOptions, limit: wanted });
    for (const { id } of found) {
      if ((await collection.take(id, filter, callOptions)) !== undefined) removed += 1;
    }
    if (found.length < wanted || removed === limit) return removed;
  }
}

/** Deletes all matching records in batches. @returns their number. */
export async function removeAll<R extends StoredRecord>(
  collection: Pick<Collection<R>, 'find' | 'take' | 'removeWhere'>,
  filter: Filter<R>,
): Promise<number> {
  for (let removed = 0; ; ) {
    const batch = await removeWhere(collection, filter, { limit: BATCH });
    removed += batch;
    if (batch < BATCH) return removed;
  }
}
