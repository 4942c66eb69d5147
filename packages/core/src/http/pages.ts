import * as z from 'zod';

/** Numbered pages, as lists of the application API have them. @see open points, 4.1 */
export interface Page {
  readonly page: number;
  readonly limit: number;
}

const whole = (most: number) =>
  z
    .string()
    .regex(/^[1-9]\d{0,8}$/, 'expected a whole number from 1')
    .transform(Number)
    .refine((value) => value <= most, `expected at most ${most}`);

const MOST_PAGES = 10_000_000;

/** Query of a numbered list. @param usual items on a page when the caller does not say; at most 100 are given. */
export function numberedQuery(usual = 20) {
  return z.object({
    page: whole(MOST_PAGES).default(1),
    limit: whole(100).default(usual),
    order: z.enum(['asc', 'desc']).optional(),
  });
}

export const pagination = z.object({
  page: z.number().int(),
  limit: z.number().int(),
  total: z.number().int(),
  pages: z.number().int(),
  totalPages: z.number().int().meta({ description: 'The same as `pages`.' }),
  hasNext: z.boolean(),
  hasPrev: z.boolean(),
});

export function paginationOf({ page, limit }: Page, total: number): z.input<typeof pagination> {
  const pages = Math.ceil(total / limit);
  return { page, limit, total, pages, totalPages: pages, hasNext: page < pages, hasPrev: page > 1 };
}
