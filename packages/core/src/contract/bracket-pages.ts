import * as z from 'zod';
import { whole } from './pages.ts';
import { text } from './text.ts';

const MAX_PAGES = 10_000_000;

/** Query of a list with `pagination[page]` and `pagination[limit]`, brackets percent-encoded or not. */
export const bracketQuery = z.object({
  search: text({ max: 200 }).optional().meta({ description: 'Text in the name, in any case.' }),
  'pagination[page]': whole(MAX_PAGES).default(1).meta({
    type: 'integer',
    minimum: 1,
    maximum: MAX_PAGES,
    default: 1,
    description: 'The number of the page, from 1.',
  }),
  'pagination[limit]': whole(100).default(20).meta({
    type: 'integer',
    minimum: 1,
    maximum: 100,
    default: 20,
    description: 'The maximum number of records in a page, 1 to 100.',
  }),
});

/** The body of such a list. */
export function bracketPage<T extends z.ZodType>(record: T) {
  return z.object({
    data: z.array(record).meta({ description: 'The records of the page.' }),
    hasMore: z.boolean().meta({ description: 'Whether there is a next page.' }),
  });
}

/** Where the page lies. One row more than the limit shows whether there is a next page. */
export function getRange(query: z.output<typeof bracketQuery>): { offset: number; limit: number } {
  const { 'pagination[page]': page, 'pagination[limit]': limit } = query;
  return { offset: (page - 1) * limit, limit: limit + 1 };
}

/** @param rows the rows of `getRange`. */
export function toBracketPage<R, W>(
  rows: readonly R[],
  query: z.output<typeof bracketQuery>,
  toWire: (row: R) => W,
): { data: W[]; hasMore: boolean } {
  const limit = query['pagination[limit]'];
  return { data: rows.slice(0, limit).map(toWire), hasMore: rows.length > limit };
}
