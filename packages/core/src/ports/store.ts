import type { CallOptions } from './options.ts';
import type { StoreWrite } from './write-all.ts';

/** A stored value: JSON only. Times are epoch milliseconds. */
export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [key: string]: Json | undefined };

/**
 * Every record has an `id`: 24 lower-case hexadecimal characters, or a key in a format that its collection defines.
 */
export interface StoredRecord {
  readonly id: string;
}

/** The column type of a queried field. `list` is an array of strings; query it with `has`. */
export type ColumnType = 'text' | 'integer' | 'boolean' | 'list';

/**
 * Describes a collection as data. A storage engine creates columns, unique constraints and indexes from it. Only the
 * fields in `columns` may appear in filters, orders, guards and deltas; an engine stores all other fields without
 * looking at them.
 */
export interface CollectionDefinition<R extends StoredRecord> {
  readonly name: string;
  readonly columns: { readonly [K in Exclude<keyof R, 'id'> & string]?: ColumnType };
  /**
   * Unique constraints: no two records have equal values in all fields of one constraint. A null or absent field
   * equals nothing.
   */
  readonly unique: readonly (readonly (keyof R & string)[])[];
  /** The fields of each index, in order. The engine appends `id` as the tie-break. */
  readonly indexes: readonly (readonly (keyof R & string)[])[];
  /** Text fields in which `contains` searches the records of all owners. An engine may index their parts. */
  readonly search?: readonly (keyof R & string)[];
  /** Whether a field is a secret, or a hash of one. Exports for users leave out secrets. */
  readonly secretFields?: SecretFields<R>;
  /** Phantom: carries the record type. */
  readonly record?: R;
}

/** `code` includes one-time codes and invites. */
const SECRET_WORDS = ['secret', 'hash', 'sealed', 'token', 'password', 'code'] as const;

/** Whether the name of a text field suggests a secret. Other fields can be secret too. */
export function suggestsSecret(field: string): boolean {
  return SECRET_WORDS.some((word) => field.toLowerCase().includes(word));
}

/** The text fields of a record whose names suggest a secret. */
type SuspectFields<R> = {
  [K in keyof R & string]-?: Extract<R[K], string> extends never
    ? never
    : Lowercase<K> extends `${string}${(typeof SECRET_WORDS)[number]}${string}`
      ? K
      : never;
}[keyof R & string];

/** A declaration for every text field whose name suggests a secret; others are optional. */
type SecretFields<R> = { readonly [K in SuspectFields<R>]: boolean } & {
  readonly [K in keyof R & string]?: boolean;
};

/** Requires `secretFields` where a name suggests a secret, so that it cannot be forgotten. */
type WithSecretFields<R> = [SuspectFields<R>] extends [never]
  ? unknown
  : { readonly secretFields: SecretFields<R> };

/** A definition without its record type, as an engine uses it. */
export interface CollectionShape {
  readonly name: string;
  readonly columns: Readonly<Record<string, ColumnType | undefined>>;
  readonly unique: readonly (readonly string[])[];
  readonly indexes: readonly (readonly string[])[];
  readonly search?: readonly string[];
  readonly secretFields?: Readonly<Record<string, boolean | undefined>>;
}

/**
 * The condition on one field. A bare value means equality. `null` matches an absent field, and so does `not` with any
 * value except null; no other condition matches an absent field. An `undefined` condition is an error: if it were
 * ignored, a missing owner would expose the records of all users. Text is compared by code point; `contains` ignores
 * case at least for ASCII letters.
 */
export type Condition<V> =
  | V
  | null
  | { readonly in: readonly NonNullable<V>[] }
  | { readonly not: V | null }
  | { readonly lt?: V; readonly lte?: V; readonly gt?: V; readonly gte?: V }
  /** Matches a case-insensitive substring of a text field. */
  | { readonly contains: string }
  /** Matches a `list` field that contains this value. */
  | { readonly has: string };

/** All fields must match (AND). If `anyOf` is given, at least one of its filters must match too (OR). */
export type Filter<R> = { readonly [K in keyof R & string]?: Condition<Exclude<R[K], undefined>> } & {
  readonly anyOf?: readonly Filter<R>[];
};

/** Order, position and number of the records to return. */
export interface FindOptions<R> extends CallOptions {
  /**
   * Sorts by this field, then by id in the same direction. Every record should have the field. Default: id,
   * ascending.
   */
  readonly order?: { readonly field: keyof R & string; readonly direction: 'asc' | 'desc' };
  /**
   * Returns only records after this position in the order: the order field's value and the id of the last record before.
   * When records are ordered by id, `value` is ignored.
   */
  readonly after?: { readonly value: string | number; readonly id: string };
  /** Skips this number of records. Use it for page numbers; cursors use `after`. */
  readonly offset?: number;
  /** Maximum number of records, 1 to 1,000. Default 1,000. */
  readonly limit?: number;
}

/** Increments by field: whole numbers, positive or negative. An absent field counts as 0. */
export type Deltas<R> = { readonly [K in keyof R & string]?: number };

/** Fields to replace. `undefined` removes the field. */
export type Patch<R> = { readonly [K in Exclude<keyof R, 'id'> & string]?: R[K] | undefined };

/**
 * The operations on one kind of record. Each call is atomic: concurrent guarded writes to one record are
 * serialized, across all processes that share the engine.
 *
 * A guard is a filter that the record must match. Guards contain the owner, so that a record of another user behaves
 * like an unknown id. All methods reject with `StorageUnavailable` when the engine is unreachable or does not answer
 * in time.
 */
export interface Collection<R extends StoredRecord> {
  /** Returns the record, or `undefined` if the id is unknown or the guard does not match. */
  get(id: string, guard?: Filter<R>, options?: CallOptions): Promise<R | undefined>;
  find(filter: Filter<R>, options?: FindOptions<R>): Promise<readonly R[]>;
  count(filter: Filter<R>, options?: CallOptions): Promise<number>;
  /** @returns false, without writing, if the id exists or a unique constraint is violated. */
  insert(record: R, options?: CallOptions): Promise<boolean>;
  /**
   * Replaces the given fields atomically. @returns the record after the change, or undefined if id or guard did not
   * match. Rejects with `UniqueViolation`, without writing, if another record has the unique value.
   */
  update(id: string, patch: Patch<R>, guard?: Filter<R>, options?: CallOptions): Promise<R | undefined>;
  /**
   * Increments counters atomically. The guard is checked against the values before the change. @returns the same as
   * `update`.
   */
  add(id: string, deltas: Deltas<R>, guard?: Filter<R>, options?: CallOptions): Promise<R | undefined>;
  /**
   * Deletes the record and returns it. Exactly one of several concurrent callers gets it; the others get `undefined`.
   */
  take(id: string, guard?: Filter<R>, options?: CallOptions): Promise<R | undefined>;
  /**
   * Deletes up to `limit` matching records in one step; which ones, if more match, is not defined. @returns the number of
   * deleted records; fewer than `limit` only if no other record matched. Each record counts for exactly one of several
   * concurrent callers. Without this method, Questline finds and takes the records one by one.
   */
  removeWhere?(filter: Filter<R>, options?: RemoveOptions): Promise<number>;
  /**
   * Returns the record, and whether the record that it refers to matches a filter, both as of one moment; `undefined` if the
   * id is unknown. A reference to no record does not match. Without this method, Questline reads the two records one after the other.
   */
  getWithMatch?<P extends StoredRecord>(
    id: string,
    reference: Reference<R, P>,
    options?: CallOptions,
  ): Promise<RecordWithMatch<R> | undefined>;
}

/** A condition on the record of another collection, or of the same one. */
export interface Reference<R, P extends StoredRecord> {
  /** The text field with the id of that record. It must have a column. */
  readonly field: keyof R & string;
  readonly collection: CollectionDefinition<P>;
  readonly filter: Filter<P>;
}

/** A record, and whether its reference matches. */
export interface RecordWithMatch<R> {
  readonly record: R;
  readonly matches: boolean;
}

/** Number of records to delete. */
export interface RemoveOptions extends CallOptions {
  /** Maximum number of records, 1 to 1,000. Default 1,000. */
  readonly limit?: number;
}

/** Stores records. The port is generic: an implementation provides the operations of `Collection` once. */
export interface Store {
  collection<R extends StoredRecord>(definition: CollectionDefinition<R>): Collection<R>;
  /**
   * Runs `work` in a transaction: all of its writes become visible together, or none if `work` rejects. After a
   * serialization conflict `work` runs again, so it must have no other side effects. Transactions do not nest.
   * @returns the value of `work`.
   */
  transaction<T>(work: (store: Store) => Promise<T>, options?: CallOptions): Promise<T>;
  /**
   * Applies all writes in one step, or none; at most one write per record. Reads among them see the records before the
   * writes. Not inside a transaction. @returns false, having written nothing, if one of
   * them has no effect: an id or unique value that exists, a guard that does not match; also for writes of another
   * engine, and of a kind that the store does not know. Without this method, Questline writes in a transaction.
   */
  writeAll?(writes: readonly StoreWrite[], options?: CallOptions): Promise<boolean>;
}

/** The write would violate a unique constraint. */
export class UniqueViolation extends Error {
  override readonly name = 'UniqueViolation';

  constructor(collection: string, options: { cause?: unknown } = {}) {
    super(`a unique value in ${collection} is taken`, options);
  }
}

/** Compares the name, not the class: the ESM and CommonJS builds of this module may both be loaded. */
export function isUniqueViolation(error: unknown): error is UniqueViolation {
  return error instanceof Error && error.name === 'UniqueViolation';
}

/** Defines a collection and checks its field names against the record type. */
export function defineCollection<R extends StoredRecord>(
  definition: CollectionDefinition<R> & WithSecretFields<R>,
): CollectionDefinition<R> {
  return definition;
}

/** The engine is unreachable or did not answer in time. The call may or may not have taken effect. */
export class StorageUnavailable extends Error {
  override readonly name = 'StorageUnavailable';
}

/** Compares the name, not the class: the ESM and CommonJS builds of this module may both be loaded. */
export function isStorageUnavailable(error: unknown): boolean {
  return error instanceof Error && error.name === 'StorageUnavailable';
}

/** A transaction would write to two databases of a store that consists of several. It has written nothing. */
export class CrossShardWrite extends Error {
  override readonly name = 'CrossShardWrite';
}

/** Compares the name, like `isStorageUnavailable`. */
export function isCrossShardWrite(error: unknown): boolean {
  return error instanceof Error && error.name === 'CrossShardWrite';
}
