import type { CallOptions } from './options.ts';

/** What a stored value may be made of: JSON, nothing else. Times are epoch milliseconds. */
export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [key: string]: Json | undefined };

/** Every record has an id of 24 lower-case hexadecimal characters, or another key that its collection chooses. */
export interface StoredRecord {
  readonly id: string;
}

/** How a queried field is kept. `list` is an array of strings that is asked with `has`. */
export type ColumnType = 'text' | 'integer' | 'boolean' | 'list';

/**
 * A collection as data: a storage engine makes real columns, unique rules and indexes from it. Only fields named in
 * `columns` may appear in filters, orders, guards and deltas; all other fields just travel with the record.
 */
export interface CollectionDefinition<R extends StoredRecord> {
  readonly name: string;
  readonly columns: { readonly [K in Exclude<keyof R, 'id'> & string]?: ColumnType };
  /** No two records agree in all fields of a rule; a null or absent field agrees with nothing. */
  readonly unique: readonly (readonly (keyof R & string)[])[];
  /** Field lists that lists are asked by; `id` is appended as the tie-break. */
  readonly indexes: readonly (readonly (keyof R & string)[])[];
  /** Phantom: carries the record type. */
  readonly record?: R;
}

/** A definition without its record type: what an engine needs to know of any collection. */
export interface CollectionShape {
  readonly name: string;
  readonly columns: Readonly<Record<string, ColumnType | undefined>>;
  readonly unique: readonly (readonly string[])[];
  readonly indexes: readonly (readonly string[])[];
}

/**
 * One field's condition. A bare value means equality; `null` also matches an absent field, and so does `not` with any
 * value but null; no other condition does. A condition that is `undefined` is refused, never left out: a missing owner
 * would show everybody's records. Text is compared by code point; `contains` ignores case at least within ASCII.
 */
export type Condition<V> =
  | V
  | null
  | { readonly in: readonly NonNullable<V>[] }
  | { readonly not: V | null }
  | { readonly lt?: V; readonly lte?: V; readonly gt?: V; readonly gte?: V }
  /** Case-insensitive substring of a text field. */
  | { readonly contains: string }
  /** Membership in a `list` field. */
  | { readonly has: string };

/** Fields are combined by "and"; `anyOf` adds alternatives of which one must hold. */
export type Filter<R> = { readonly [K in keyof R & string]?: Condition<Exclude<R[K], undefined>> } & {
  readonly anyOf?: readonly Filter<R>[];
};

export interface FindOptions<R> extends CallOptions {
  /** Ordered by this field, which every record should have, then by id in the same direction. Default: id, ascending. */
  readonly order?: { readonly field: keyof R & string; readonly direction: 'asc' | 'desc' };
  /** Only what comes behind this place in the order. */
  readonly after?: { readonly value: string | number; readonly id: string };
  /** Skips so many records. For paged lists; cursors use `after`. */
  readonly offset?: number;
  /** At most so many records, 1..1000. Default 1000. */
  readonly limit?: number;
}

/** Counters to move: whole numbers, positive or negative. An absent field counts as 0. */
export type Deltas<R> = { readonly [K in keyof R & string]?: number };

/** Changes to a record. A field set to `undefined` is removed. */
export type Patch<R> = { readonly [K in Exclude<keyof R, 'id'> & string]?: R[K] | undefined };

/**
 * Seven verbs over one kind of record. Each call is atomic by itself: of any number of concurrent guarded writes on one
 * record, each sees the outcome of the one before, in every process that shares the engine.
 *
 * Guards carry the owner: another user's record answers like an unknown one.
 */
export interface Collection<R extends StoredRecord> {
  /** The record, when it exists and the guard holds. */
  get(id: string, guard?: Filter<R>, options?: CallOptions): Promise<R | undefined>;
  find(filter: Filter<R>, options?: FindOptions<R>): Promise<readonly R[]>;
  count(filter: Filter<R>, options?: CallOptions): Promise<number>;
  /** @returns false, and nothing written, when the id or a unique rule is already taken. */
  insert(record: R, options?: CallOptions): Promise<boolean>;
  /**
   * Replaces the named fields in one step. @returns the record after the change; undefined when id or guard did not match.
   * Rejects with `UniqueViolation`, nothing changed, when another record has the unique value.
   */
  update(id: string, patch: Patch<R>, guard?: Filter<R>, options?: CallOptions): Promise<R | undefined>;
  /** Moves counters in one step, guard checked against the values before. @returns as `update`. */
  add(id: string, deltas: Deltas<R>, guard?: Filter<R>, options?: CallOptions): Promise<R | undefined>;
  /** Removes the record and hands it over: of concurrent takers exactly one gets it. */
  take(id: string, guard?: Filter<R>, options?: CallOptions): Promise<R | undefined>;
}

/** Where records live. One generic port: an implementer writes seven verbs once. */
export interface Store {
  collection<R extends StoredRecord>(definition: CollectionDefinition<R>): Collection<R>;
  /**
   * Runs `work` with a store whose writes become visible together, or not at all when `work` rejects. `work` may be run
   * again after a serialization conflict, so it must have no other effects. Transactions don't nest.
   */
  transaction<T>(work: (store: Store) => Promise<T>, options?: CallOptions): Promise<T>;
}

/** A change would make two records agree in a unique rule. */
export class UniqueViolation extends Error {
  override readonly name = 'UniqueViolation';

  constructor(collection: string, options: { cause?: unknown } = {}) {
    super(`a unique value in ${collection} is taken`, options);
  }
}

/** Told by name, not by class: the ESM and CommonJS builds of this module may both be loaded. */
export function isUniqueViolation(error: unknown): error is UniqueViolation {
  return error instanceof Error && error.name === 'UniqueViolation';
}

/** Writes a collection down, checking its field names against the record type. */
export function defineCollection<R extends StoredRecord>(
  definition: CollectionDefinition<R>,
): CollectionDefinition<R> {
  return definition;
}

/** The engine cannot be reached, or did not answer in time. The call may or may not have taken effect. */
export class StorageUnavailable extends Error {
  override readonly name = 'StorageUnavailable';
}

/** Told by name: the ESM and CommonJS builds of this module may both be loaded. */
export function isStorageUnavailable(error: unknown): boolean {
  return error instanceof Error && error.name === 'StorageUnavailable';
}
