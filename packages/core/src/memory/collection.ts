import type { CallOptions } from '../ports/options.ts';
import {
  type Collection,
  type CollectionDefinition,
  type ColumnType,
  type Filter,
  type FindOptions,
  type RemoveOptions,
  type StoredRecord,
  UniqueViolation,
} from '../ports/store.ts';
import { type AnyRecord, assertColumn, matches, matchesPlainly, readFilter } from './filter.ts';
import { frozenCopy } from './json.ts';
import type { Records } from './table.ts';

const MAX_RECORDS = 1000;
const BY_ID = { field: 'id', direction: 'asc' } as const;

const definitionOf = Symbol('definition');
const recordsOf = Symbol('records');

/** What the methods of a collection work on. Symbols, so that a spread of the collection keeps them. */
interface Parts<R extends StoredRecord> {
  readonly [definitionOf]: CollectionDefinition<R>;
  readonly [recordsOf]: Records;
}

/**
 * A collection of functions that all collections share: every transaction creates some, and closures cost ten times as
 * much.
 */
export function createCollection<R extends StoredRecord>(
  definition: CollectionDefinition<R>,
  records: Records,
): Collection<R> {
  const collection: Collection<R> & Parts<R> = {
    [definitionOf]: definition,
    [recordsOf]: records,
    get,
    find,
    count,
    insert,
    update,
    add,
    take,
    removeWhere,
  };
  return collection;
}

async function get<R extends StoredRecord>(
  this: Parts<R>,
  id: string,
  guard?: Filter<R>,
  options?: CallOptions,
): Promise<R | undefined> {
  return readGuarded(this, id, guard, options) as R | undefined;
}

async function find<R extends StoredRecord>(
  this: Parts<R>,
  filter?: Filter<R>,
  options: FindOptions<R> = {},
): Promise<R[]> {
  options.signal?.throwIfAborted();
  const { order = BY_ID, after, offset = 0, limit = MAX_RECORDS } = options;
  const definition = this[definitionOf];
  assertColumn(definition, order.field);
  assertLimit(limit);
  const query = { filter: readFilter(definition, filter), order, after, skip: offset, take: limit };
  return this[recordsOf].select(query) as unknown as R[];
}

async function count<R extends StoredRecord>(
  this: Parts<R>,
  filter?: Filter<R>,
  options?: CallOptions,
): Promise<number> {
  options?.signal?.throwIfAborted();
  return this[recordsOf].count(readFilter(this[definitionOf], filter));
}

async function insert<R extends StoredRecord>(
  this: Parts<R>,
  record: R,
  options?: CallOptions,
): Promise<boolean> {
  options?.signal?.throwIfAborted();
  const records = this[recordsOf];
  const copy = frozenCopy(record) as unknown as AnyRecord;
  assertColumnTypes(this[definitionOf], copy);
  if (records.get(copy.id) !== undefined || records.conflicts(copy).length > 0) return false;
  records.write(copy.id, copy);
  return true;
}

async function update<R extends StoredRecord>(
  this: Parts<R>,
  id: string,
  patch: Partial<R>,
  guard?: Filter<R>,
  options?: CallOptions,
): Promise<R | undefined> {
  const record = readGuarded(this, id, guard, options);
  if (record === undefined) return undefined;
  const next: Record<string, unknown> = { ...record, ...frozenCopy(patch) };
  for (const [field, value] of Object.entries(patch)) if (value === undefined) delete next[field];
  next.id = id;
  return replace(this, next as AnyRecord);
}

async function add<R extends StoredRecord>(
  this: Parts<R>,
  id: string,
  deltas: object,
  guard?: Filter<R>,
  options?: CallOptions,
): Promise<R | undefined> {
  const record = readGuarded(this, id, guard, options);
  if (record === undefined) return undefined;
  const next: Record<string, unknown> = { ...record };
  for (const [field, delta] of Object.entries(deltas) as [string, number | undefined][]) {
    assertColumn(this[definitionOf], field);
    next[field] = Number(record[field] ?? 0) + (delta ?? 0);
  }
  return replace(this, next as AnyRecord);
}

async function take<R extends StoredRecord>(
  this: Parts<R>,
  id: string,
  guard?: Filter<R>,
  options?: CallOptions,
): Promise<R | undefined> {
  const record = readGuarded(this, id, guard, options);
  if (record !== undefined) this[recordsOf].write(id, undefined);
  return record as R | undefined;
}

async function removeWhere<R extends StoredRecord>(
  this: Parts<R>,
  filter: Filter<R>,
  { limit = MAX_RECORDS, signal }: RemoveOptions = {},
): Promise<number> {
  signal?.throwIfAborted();
  assertLimit(limit);
  const records = this[recordsOf];
  const query = {
    filter: readFilter(this[definitionOf], filter),
    order: BY_ID,
    skip: 0,
    take: limit,
  };
  const found = records.select(query);
  for (const { id } of found) records.write(id, undefined);
  return found.length;
}

function readGuarded<R extends StoredRecord>(
  { [definitionOf]: definition, [recordsOf]: records }: Parts<R>,
  id: string,
  guard: Filter<R> | undefined,
  options: CallOptions | undefined,
): AnyRecord | undefined {
  options?.signal?.throwIfAborted();
  const record = records.get(id);
  if (guard === undefined) return record;
  const isMatch = matchesPlainly(definition, record, guard) ?? matches(record, readFilter(definition, guard));
  return isMatch ? record : undefined;
}

/** Writes the new record. */
function replace<R extends StoredRecord>(
  { [definitionOf]: definition, [recordsOf]: records }: Parts<R>,
  next: AnyRecord,
): R {
  assertColumnTypes(definition, next);
  Object.freeze(next);
  if (records.conflicts(next).length > 0) throw new UniqueViolation(definition.name);
  records.write(next.id, next);
  return next as unknown as R;
}

/** Rejects values that a column of a storage engine cannot store. */
function assertColumnTypes<R extends StoredRecord>(
  { name, columns }: CollectionDefinition<R>,
  record: AnyRecord,
): void {
  const types: Readonly<Record<string, ColumnType | undefined>> = columns;
  for (const field in types) {
    const value = record[field];
    const type = types[field];
    if (value === undefined || value === null || type === undefined) continue;
    if (!fitsColumn(value, type)) throw new TypeError(`${name}.${field} is of type ${type}`);
  }
}

function assertLimit(limit: number): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_RECORDS) {
    throw new RangeError(`a limit of ${limit} is not within 1..${MAX_RECORDS}`);
  }
}

function fitsColumn(value: unknown, type: unknown): boolean {
  switch (type) {
    case 'text':
      return typeof value === 'string';
    case 'integer':
      return Number.isSafeInteger(value);
    case 'boolean':
      return typeof value === 'boolean';
    default:
      return Array.isArray(value) && value.every((member) => typeof member === 'string');
  }
}
