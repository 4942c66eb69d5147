import * as z from 'zod';

/** Page numbers, as in lists of the application API. */
export interface Page {
  readonly page: number;
  readonly limit: number;
}

/** A whole number of a query, from 1. */
export const whole = (most: number) =>
  z
    .string()
    .regex(/^[1-9]\d{0,8}$/, 'expected a whole number from 1')
    .transform(Number)
    .refine((value) => value <= most, `expected at most ${most}`)
    .meta({ type: 'integer', minimum: 1, maximum: most });

const MAX_PAGES = 10_000_000;

/** Query parameters of a numbered list. @param usual default page size; the maximum is 100. */
export function numberedQuery(usual = 20) {
  return z.object({
    page: whole(MAX_PAGES).default(1).meta({ default: 1 }).describe('The number of the page, from 1.'),
    limit: whole(100)
      .default(usual)
      .meta({ default: usual })
      .describe('The maximum number of entries of a page, up to 100.'),
    order: z
      .enum(['asc', 'desc'])
      .optional()
      .describe('The direction of the order. Default: newest first for dates, ascending for names.'),
  });
}

export const pagination = z
  .object({
    page: z.number().int().describe('The number of this page, from 1.'),
    limit: z.number().int().describe('The maximum number of entries of a page.'),
    total: z.number().int().describe('The number of entries of all pages.'),
    pages: z.number().int().describe('The number of pages.'),
    totalPages: z.number().int().meta({ description: 'The same as `pages`.' }),
    hasNext: z.boolean().describe('Whether there is a next page.'),
    hasPrev: z.boolean().describe('Whether there is a previous page.'),
  })
  .describe('The position of this page in the whole list.');

export function toPagination({ page, limit }: Page, total: number): z.input<typeof pagination> {
  const pages = Math.ceil(total / limit);
  return { page, limit, total, pages, totalPages: pages, hasNext: page < pages, hasPrev: page > 1 };
}
