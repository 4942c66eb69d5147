import type { CollectionDefinition, CollectionShape, Filter, Store, StoredRecord } from '../ports/store.ts';

/** Any record, for code that treats all collections alike. */
export type AnyRecord = StoredRecord & Readonly<Record<string, unknown>>;

/** A record of a user, with its collection. */
export interface PersonalRecord {
  readonly shape: CollectionShape;
  readonly record: AnyRecord;
}

/** Records without an owner of their own, by the collection and the field of what they belong to. */
export interface RecordPart {
  readonly whole: CollectionShape;
  readonly part: CollectionShape;
  readonly field: string;
}

/**
 * What a feature knows of the data of one user. Records with a column `ownerId` or `userId` are found, exported and
 * deleted without it.
 */
export interface PersonalData {
  readonly parts?: readonly RecordPart[];
  /** Lists records of the user that have no column for their owner. */
  readonly find?: (userId: string) => AsyncIterable<PersonalRecord>;
  /** Collections with such a column whose records are exported, and outlive the user or end with the account. */
  readonly kept?: readonly CollectionShape[];
  /** Lists records without such a column that are exported, and outlive the user. */
  readonly findKept?: (userId: string) => AsyncIterable<PersonalRecord>;
  /** Asks the work of the user to stop. Safe to repeat. @returns how much of it has not ended. */
  readonly stop?: (userId: string) => Promise<number>;
  /** Deletes records that have more than their row, such as bytes. Default: `take`. */
  readonly erase?: readonly {
    readonly shape: CollectionShape;
    readonly erase: (record: AnyRecord, userId: string) => Promise<void>;
  }[];
  /** Runs after the deletion of each record. */
  readonly erased?: (shape: CollectionShape, id: string) => Promise<void>;
  /** Removes the user from records of others. The account still exists. @param erased ids of the deleted records. */
  readonly eraseTraces?: (userId: string, erased: ReadonlySet<string>) => Promise<void>;
}

const PAGE = 200;

/** Opens a collection by its shape. */
export function openCollection(store: Store, shape: CollectionShape) {
  return store.collection<AnyRecord>(shape as unknown as CollectionDefinition<AnyRecord>);
}

/** Lists records in the order of their ids, page by page: a record may be deleted before the next one is read. */
export async function* findAll<R extends StoredRecord>(
  store: Store,
  definition: CollectionDefinition<R>,
  filter: Filter<R>,
): AsyncGenerator<R> {
  let after: { readonly value: string; readonly id: string } | undefined;
  for (;;) {
    const page = await store.collection(definition).find(filter, { limit: PAGE, ...(after && { after }) });
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = { value: last.id, id: last.id };
  }
}

/** The same for any collection. */
export function findAny(
  store: Store,
  shape: CollectionShape,
  filter: Filter<AnyRecord>,
): AsyncGenerator<AnyRecord> {
  return findAll(store, shape as unknown as CollectionDefinition<AnyRecord>, filter);
}
