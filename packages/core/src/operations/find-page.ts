import { decodeCursor, encodeCursor, toPage } from '../contract/cursor.ts';
import { type Page, toPagination } from '../contract/pages.ts';
import type { Collection, Filter, FindOptions, StoredRecord } from '../ports/store.ts';
import type { CountTotal } from './totals.ts';

type Order<R> = NonNullable<FindOptions<R>['order']>;

export interface PageRequest<R> {
  /** The list that a cursor belongs to: the id of the operation, and of the parent if there is one. */
  readonly list: string;
  /** The id of the caller. */
  readonly owner: string;
  readonly query: { readonly limit: number; readonly cursor?: string | undefined };
  /** The field contains integers. */
  readonly order: Order<R>;
}

/** Reads one page of a cursor list. @throws ApiError 422 for a cursor of another list or caller. */
export async function findPage<R extends StoredRecord, W>(
  collection: Collection<R>,
  filter: NoInfer<Filter<R>>,
  { list, owner, query: { limit, cursor }, order }: PageRequest<R>,
  toWire: (row: R) => W,
): Promise<{ data: W[]; next_cursor: string | null }> {
  const after = decodeCursor(list, owner, cursor);
  const rows = await collection.find(filter, {
    order,
    // One more shows whether there is a next page.
    limit: limit + 1,
    ...(after !== undefined && { after }),
  });
  return toPage(rows, limit, toWire, (row) =>
    encodeCursor(list, owner, { value: Number(row[order.field]), id: row.id }),
  );
}

/** Reads one page of a numbered list, and counts all of its records. @param count for a list over the records of all owners. */
export async function findNumberedPage<R extends StoredRecord>(
  collection: Collection<R>,
  filter: NoInfer<Filter<R>>,
  page: Page,
  order: Order<R>,
  count: CountTotal<R> = (counted, counting) => counted.count(counting),
): Promise<{ rows: readonly R[]; pagination: ReturnType<typeof toPagination> }> {
  const [total, rows] = await Promise.all([
    count(collection, filter),
    collection.find(filter, { order, offset: (page.page - 1) * page.limit, limit: page.limit }),
  ]);
  return { rows, pagination: toPagination(page, total) };
}
