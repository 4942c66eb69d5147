import type { CallOptions } from '../ports/options.ts';
import {
  type Collection,
  type CollectionDefinition,
  type ColumnType,
  type Filter,
  type FindOptions,
  type Patch,
  type RecordWithMatch,
  type Reference,
  type RemoveOptions,
  type StoredRecord,
  UniqueViolation,
} from '../ports/store.ts';
import { type AnyRecord, assertColumn, matchesGuard, readFilter } from './filter.ts';
import { frozenCopy } from './json.ts';
import type { Records } from './table.ts';

const MAX_RECORDS = 1000;
const BY_ID = { field: 'id', direction: 'asc' } as const;

/** What the functions of a collection work on. */
interface Parts<R extends StoredRecord> {
  readonly definition: CollectionDefinition<R>;
  readonly records: Records;
  readonly getRecords: GetRecords;
}

/** Returns the records of another collection, in the same transaction if there is one. */
export type GetRecords = <R extends StoredRecord>(definition: CollectionDefinition<R>) => Records;

/** One short closure per verb, because every transaction creates collections. */
export function createCollection<R extends StoredRecord>(
  definition: CollectionDefinition<R>,
  getRecords: GetRecords,
): Collection<R> {
  const parts: Parts<R> = { definition, records: getRecords(definition), getRecords };
  return {
    get: (id, guard, options) => get(parts, id, guard, options),
    find: (filter, options) => find(parts, filter, options),
    count: (filter, options) => count(parts, filter, options),
    insert: (record, options) => insert(parts, record, options),
    update: (id, patch, guard, options) => update(parts, id, patch, guard, options),
    add: (id, deltas, guard, options) => add(parts, id, deltas, guard, options),
    take: (id, guard, options) => take(parts, id, guard, options),
    removeWhere: (filter, options) => removeWhere(parts, filter, options),
    getWithMatch: (id, reference, options) => getWithMatch(parts, id, reference, options),
  };
}

async function get<R extends StoredRecord>(
  parts: Parts<R>,
  id: string,
  guard?: Filter<R>,
  options?: CallOptions,
): Promise<R | undefined> {
  return readGuarded(parts, id, guard, options) as R | undefined;
}

async function find<R extends StoredRecord>(
  parts: Parts<R>,
  filter?: Filter<R>,
  options: FindOptions<R> = {},
): Promise<R[]> {
  options.signal?.throwIfAborted();
  const { order = BY_ID, after, offset = 0, limit = MAX_RECORDS } = options;
  const definition = parts.definition;
  assertColumn(definition, order.field);
  assertLimit(limit);
  const query = { filter: readFilter(definition, filter), order, after, skip: offset, take: limit };
  return parts.records.select(query) as unknown as R[];
}

async function count<R extends StoredRecord>(
  parts: Parts<R>,
  filter?: Filter<R>,
  options?: CallOptions,
): Promise<number> {
  options?.signal?.throwIfAborted();
  return parts.records.count(readFilter(parts.definition, filter));
}

async function insert<R extends StoredRecord>(
  parts: Parts<R>,
  record: R,
  options?: CallOptions,
): Promise<boolean> {
  options?.signal?.throwIfAborted();
  const records = parts.records;
  const copy = frozenCopy(record) as unknown as AnyRecord;
  assertColumnTypes(parts.definition, copy);
  if (records.get(copy.id) !== undefined || records.conflicts(copy).length > 0) return false;
  records.write(copy.id, copy);
  return true;
}

async function update<R extends StoredRecord>(
  parts: Parts<R>,
  id: string,
  patch: Patch<R>,
  guard?: Filter<R>,
  options?: CallOptions,
): Promise<R | undefined> {
  const record = readGuarded(parts, id, guard, options);
  if (record === undefined) return undefined;
  const next: Record<string, unknown> = { ...record, ...frozenCopy(patch) };
  for (const [field, value] of Object.entries(patch)) if (value === undefined) delete next[field];
  next.id = id;
  return replace(parts, next as AnyRecord);
}

async function add<R extends StoredRecord>(
  parts: Parts<R>,
  id: string,
  deltas: object,
  guard?: Filter<R>,
  options?: CallOptions,
): Promise<R | undefined> {
  const record = readGuarded(parts, id, guard, options);
  if (record === undefined) return undefined;
  const next: Record<string, unknown> = { ...record };
  for (const [field, delta] of Object.entries(deltas) as [string, number | undefined][]) {
    assertColumn(parts.definition, field);
    next[field] = Number(record[field] ?? 0) + (delta ?? 0);
  }
  return replace(parts, next as AnyRecord);
}

async function take<R extends StoredRecord>(
  parts: Parts<R>,
  id: string,
  guard?: Filter<R>,
  options?: CallOptions,
): Promise<R | undefined> {
  const record = readGuarded(parts, id, guard, options);
  if (record !== undefined) parts.records.write(id, undefined);
  return record as R | undefined;
}

async function removeWhere<R extends StoredRecord>(
  parts: Parts<R>,
  filter: Filter<R>,
  { limit = MAX_RECORDS, signal }: RemoveOptions = {},
): Promise<number> {
  signal?.throwIfAborted();
  assertLimit(limit);
  const records = parts.records;
  const query = {
    filter: readFilter(parts.definition, filter),
    order: BY_ID,
    skip: 0,
    take: limit,
  };
  const found = records.select(query);
  for (const { id } of found) records.write(id, undefined);
  return found.length;
}

async function getWithMatch<R extends StoredRecord, P extends StoredRecord>(
  { definition, records, getRecords }: Parts<R>,
  id: string,
  { field, collection, filter }: Reference<R, P>,
  options?: CallOptions,
): Promise<RecordWithMatch<R> | undefined> {
  options?.signal?.throwIfAborted();
  assertColumn(definition, field);
  const record = records.get(id);
  if (record === undefined) return undefined;
  const other = record[field];
  const found = typeof other === 'string' ? getRecords(collection).get(other) : undefined;
  return { record: record as unknown as R, matches: matchesGuard(collection, found, filter) };
}

function readGuarded<R extends StoredRecord>(
  { definition, records }: Parts<R>,
  id: string,
  guard: Filter<R> | undefined,
  options: CallOptions | undefined,
): AnyRecord | undefined {
  options?.signal?.throwIfAborted();
  const record = records.get(id);
  return guard === undefined || matchesGuard(definition, record, guard) ? record : undefined;
}

/** Writes the new record. */
function replace<R extends StoredRecord>({ definition, records }: Parts<R>, next: AnyRecord): R {
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
