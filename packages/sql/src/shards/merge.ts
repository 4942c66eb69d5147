import type { CallOptions, Collection, Filter, FindOptions, StoredRecord } from '@questline/core/ports';

const MAX_RECORDS = 1000;

/** The records of several collections in one order, as `find` of one collection returns them. */
export async function findInAll<R extends StoredRecord>(
  collections: readonly Pick<Collection<R>, 'find'>[],
  filter: Filter<R>,
  options: FindOptions<R> = {},
): Promise<readonly R[]> {
  const { limit = MAX_RECORDS, offset = 0, order, ...rest } = options;
  const { field = 'id', direction = 'asc' } = order ?? {};
  const [only] = collections;
  if (collections.length === 1 && only !== undefined) return only.find(filter, options);
  if (
    !Number.isInteger(limit) ||
    limit < 1 ||
    limit > MAX_RECORDS ||
    !Number.isInteger(offset) ||
    offset < 0
  ) {
    // The engine rejects the options with its own message.
    return only?.find(filter, options) ?? [];
  }
  const sign = direction === 'asc' ? 1 : -1;
  const compare = (a: R, b: R) => sign * (compareValues(a[field], b[field]) || compareValues(a.id, b.id));
  const wanted = offset + limit;
  const lists = await Promise.all(
    collections.map((collection) =>
      findMany(collection, filter, { ...rest, ...(order !== undefined && { order }) }, field, wanted),
    ),
  );
  const sorted = lists.flat().sort(compare);
  // While an owner moves, two databases have the same record.
  return sorted.filter(({ id }, at) => sorted[at - 1]?.id !== id).slice(offset, wanted);
}

/** The number of matching records in several collections. @param areCopied whether two of them may have the same record. */
export async function countInAll<R extends StoredRecord>(
  collections: readonly Pick<Collection<R>, 'find' | 'count'>[],
  filter: Filter<R>,
  options: CallOptions | undefined,
  areCopied: boolean,
): Promise<number> {
  if (collections.length > 1 && areCopied) {
    const lists = await Promise.all(
      collections.map((collection) =>
        findMany(collection, filter, { ...options }, 'id', Number.MAX_SAFE_INTEGER),
      ),
    );
    return new Set(lists.flat().map(({ id }) => id)).size;
  }
  const counts = await Promise.all(collections.map((collection) => collection.count(filter, options)));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Finds more records than one call returns. */
async function findMany<R extends StoredRecord>(
  collection: Pick<Collection<R>, 'find'>,
  filter: Filter<R>,
  options: FindOptions<R>,
  field: keyof R & string,
  wanted: number,
): Promise<readonly R[]> {
  const found: R[] = [];
  for (let page = options; ; ) {
    const limit = Math.min(wanted - found.length, MAX_RECORDS);
    const records = await collection.find(filter, { ...page, limit });
    found.push(...records);
    const last = records.at(-1);
    if (last === undefined || records.length < limit || found.length >= wanted) return found;
    page = { ...options, after: { value: last[field] as string | number, id: last.id } };
  }
}

/** Orders values like the engines: absent ones first, text by code point. */
export function compareValues(a: unknown, b: unknown): number {
  const left = a ?? null;
  const right = b ?? null;
  if (left === right) return 0;
  if (left === null || right === null) return left === null ? -1 : 1;
  if (typeof left !== 'string' || typeof right !== 'string') return Number(left) - Number(right);
  const [one, other] = [[...left], [...right]];
  for (let at = 0; at < Math.min(one.length, other.length); at += 1) {
    const difference = (one[at]?.codePointAt(0) ?? 0) - (other[at]?.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return one.length - other.length;
}
