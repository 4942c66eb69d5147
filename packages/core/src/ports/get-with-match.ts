import type { CallOptions } from './options.ts';
import type {
  Collection,
  CollectionDefinition,
  RecordWithMatch,
  Reference,
  Store,
  StoredRecord,
} from './store.ts';

/** `getWithMatch` of the collection, or of a store that was written without it: reads one record after the other. */
export function getWithMatch<R extends StoredRecord, P extends StoredRecord>(
  store: Pick<Store, 'collection'>,
  definition: CollectionDefinition<R>,
  id: string,
  reference: Reference<R, P>,
  options?: CallOptions,
): Promise<RecordWithMatch<R> | undefined> {
  const collection = store.collection(definition);
  if (collection.getWithMatch !== undefined) return collection.getWithMatch(id, reference, options);
  return getInTurn(store, collection, id, reference, options);
}

async function getInTurn<R extends StoredRecord, P extends StoredRecord>(
  store: Pick<Store, 'collection'>,
  collection: Collection<R>,
  id: string,
  reference: Reference<R, P>,
  options: CallOptions | undefined,
): Promise<RecordWithMatch<R> | undefined> {
  const record = await collection.get(id, undefined, options);
  if (record === undefined) return undefined;
  const other = record[reference.field];
  if (typeof other !== 'string') return { record, matches: false };
  const found = await store.collection(reference.collection).get(other, reference.filter, options);
  return { record, matches: found !== undefined };
}
