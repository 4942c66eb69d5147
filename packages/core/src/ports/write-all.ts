import type { CallOptions } from './options.ts';
import { removeWhere } from './remove-where.ts';
import {
  type Collection,
  type CollectionDefinition,
  type Deltas,
  type Filter,
  type FindOptions,
  isUniqueViolation,
  type Patch,
  type Store,
  type StoredRecord,
} from './store.ts';

interface RecordWrite {
  readonly collection: CollectionDefinition<StoredRecord>;
  readonly id: string;
}

/** A write that another port of the same engine has built, for the store of that engine. */
export interface EngineWrite {
  readonly do: 'engine';
  /** Identifies the engine, by identity. */
  readonly engine: object;
  /** Known to the engine. */
  readonly work: unknown;
  /** Called after all writes have taken effect. */
  applied(): void;
}

/** Deletes records by a filter. */
export interface RemoveWhereWrite {
  readonly do: 'remove-where';
  readonly collection: CollectionDefinition<StoredRecord>;
  readonly filter: object;
  /** 0 to 999; 0: expects that no record matches. */
  readonly max: number;
}

/**
 * Writes nothing: reads records as they were before the writes of the step. A concurrent write may change them in between;
 * guards of the writes see that.
 */
export interface StoreRead {
  readonly do: 'read' | 'read-ordered';
  readonly collection: CollectionDefinition<StoredRecord>;
  readonly filter: object;
  /** With `read-ordered` only, as of `find`. Default: by id, ascending. */
  readonly order?: { readonly field: string; readonly direction: 'asc' | 'desc' };
  /** The maximum number of records, 1 to 1,000. */
  readonly max: number;
  /** Called after all writes have taken effect; not called without effect. */
  found(records: readonly StoredRecord[]): void;
}

/** One write of `writeAll`. */
export type StoreWrite =
  | (RecordWrite & { readonly do: 'insert'; readonly record: StoredRecord })
  | (RecordWrite & { readonly do: 'update'; readonly patch: object; readonly guard: object | undefined })
  /** Adds to the counters of a record, or inserts it. */
  | (RecordWrite & { readonly do: 'count'; readonly deltas: Readonly<Record<string, number>> })
  /** Adds to the counters of a record that exists. */
  | (RecordWrite & {
      readonly do: 'add';
      readonly deltas: Readonly<Record<string, number>>;
      readonly guard: object | undefined;
    })
  | (RecordWrite & { readonly do: 'remove'; readonly guard: object | undefined })
  /** Deletes all matching records, also none. Has no effect if more than `max` match. */
  | RemoveWhereWrite
  /** Writes nothing: the record exists, and is not deleted before the writes are visible. */
  | (RecordWrite & { readonly do: 'expect'; readonly guard: object | undefined })
  /** Writes nothing: no record matches. A concurrent write may make it match. */
  | (RecordWrite & { readonly do: 'expect-none'; readonly guard: object })
  | StoreRead
  | EngineWrite;

/** Whether it writes nothing and expects nothing. */
export function isStoreRead(write: StoreWrite): write is StoreRead {
  return write.do === 'read' || write.do === 'read-ordered';
}

/** A write with a further consequence. */
export function followed(write: EngineWrite, then: () => void): EngineWrite {
  return {
    ...write,
    applied() {
      write.applied();
      then();
    },
  };
}

/** Builds the writes to one collection. */
export function writesTo<R extends StoredRecord>(definition: CollectionDefinition<R>) {
  const collection = definition as unknown as CollectionDefinition<StoredRecord>;
  const toRead = (
    filter: Filter<R>,
    max: number,
    found: (records: readonly R[]) => void,
  ): Omit<StoreRead, 'do'> => ({
    ...{ collection, filter, max },
    found: (records) => found(records as unknown as readonly R[]),
  });
  return {
    insert: (record: R): StoreWrite => ({ do: 'insert', collection, id: record.id, record }),
    update: (id: string, patch: Patch<R>, guard?: Filter<R>): StoreWrite => ({
      ...{ do: 'update', collection, id, patch, guard },
    }),
    count: (id: string, deltas: Deltas<R>): StoreWrite => ({
      ...{ do: 'count', collection, id, deltas: deltas as Readonly<Record<string, number>> },
    }),
    add: (id: string, deltas: Deltas<R>, guard?: Filter<R>): StoreWrite => ({
      ...{ do: 'add', collection, id, deltas: deltas as Readonly<Record<string, number>>, guard },
    }),
    remove: (id: string, guard?: Filter<R>): StoreWrite => ({ do: 'remove', collection, id, guard }),
    removeWhere: (filter: Filter<R>, max: number): StoreWrite => ({
      ...{ do: 'remove-where', collection, filter, max },
    }),
    expect: (id: string, guard?: Filter<R>): StoreWrite => ({ do: 'expect', collection, id, guard }),
    expectNone: (id: string, guard: Filter<R>): StoreWrite => ({ do: 'expect-none', collection, id, guard }),
    read: (filter: Filter<R>, max: number, found: (records: readonly R[]) => void): StoreRead => ({
      ...{ do: 'read', ...toRead(filter, max, found) },
    }),
    readOrdered: (
      filter: Filter<R>,
      { max, ...order }: NonNullable<FindOptions<R>['order']> & { readonly max: number },
      found: (records: readonly R[]) => void,
    ): StoreRead => ({ ...{ do: 'read-ordered', order, ...toRead(filter, max, found) } }),
  };
}

/** `writeAll` of the store, or of a store that was written without it: in a transaction. */
export function writeAll(
  store: Store,
  writes: readonly StoreWrite[],
  options?: CallOptions,
): Promise<boolean> {
  return store.writeAll === undefined
    ? writeInTransaction(store, writes, options)
    : store.writeAll(writes, options);
}

/** Maximum number of records of one read. */
const MAX_READ = 1000;

/** Thrown in the transaction to undo it. */
class WithoutEffect extends Error {}

/** Writes in a transaction of the store, one after the other. @returns false for writes of an engine. */
export async function writeInTransaction(
  store: Pick<Store, 'transaction'>,
  writes: readonly StoreWrite[],
  options?: CallOptions,
): Promise<boolean> {
  const known = writes.filter((write) => write.do !== 'engine');
  if (known.length < writes.length) return false;
  const reads = known.filter(isStoreRead);
  const records = known.filter((write) => !isStoreRead(write));
  try {
    const answers = await store.transaction(async (inner) => {
      const found: (readonly StoredRecord[])[] = [];
      for (const { collection, filter, max, order } of reads) {
        if (!(max >= 1 && max <= MAX_READ)) throw new RangeError(`a read of ${max} records`);
        const options = { limit: max, ...(order && { order: order as { field: 'id'; direction: 'asc' } }) };
        found.push(await inner.collection(collection).find(filter, options));
      }
      for (const write of records) {
        if (!(await writeRecord(inner.collection(write.collection), write))) throw new WithoutEffect();
      }
      return found;
    }, options);
    for (const [at, read] of reads.entries()) read.found(answers[at] ?? []);
    return true;
  } catch (error) {
    if (error instanceof WithoutEffect || isUniqueViolation(error)) return false;
    throw error;
  }
}

/** @returns whether the write has taken effect. */
async function writeRecord(
  collection: Collection<StoredRecord>,
  write: Exclude<StoreWrite, EngineWrite | StoreRead>,
): Promise<boolean> {
  if (write.do === 'remove-where') return removeUpTo(collection, write);
  const { id } = write;
  switch (write.do) {
    case 'insert':
      return collection.insert(write.record);
    case 'update':
      return (await collection.update(id, write.patch, write.guard)) !== undefined;
    case 'count':
      return (
        (await collection.add(id, write.deltas)) !== undefined ||
        collection.insert({ ...write.deltas, id } as StoredRecord)
      );
    case 'add':
      return (await collection.add(id, write.deltas, write.guard)) !== undefined;
    case 'remove':
      return (await collection.take(id, write.guard)) !== undefined;
    case 'expect':
      return (await collection.get(id, write.guard)) !== undefined;
    case 'expect-none':
      return (await collection.get(id, write.guard)) === undefined;
  }
}

async function removeUpTo(
  collection: Collection<StoredRecord>,
  { filter, max }: RemoveWhereWrite,
): Promise<boolean> {
  if (max > 0) await removeWhere(collection, filter, { limit: max });
  return (await collection.find(filter, { limit: 1 })).length === 0;
}
