import * as z from 'zod';
import { ApiError } from '../shared/errors.ts';
import { hashSecret } from '../shared/secrets.ts';

/** Query of a cursor list. */
export const pageQuery = z.object({
  limit: z
    .string()
    .regex(/^(?:[1-9]\d?|100)$/, 'expected a whole number from 1 to 100')
    .transform(Number)
    .default(25)
    .meta({ type: 'integer', minimum: 1, maximum: 100, default: 25 })
    .describe('The maximum number of entries of the page.'),
  cursor: z
    .string()
    .min(1)
    .max(1024)
    .optional()
    .meta({ description: 'The `next_cursor` of the previous page.' }),
});

/** The answer of a cursor list. */
export function cursorPage<T extends z.ZodType>(entry: T) {
  return z.object({
    data: z.array(entry).describe('The entries of this page.'),
    next_cursor: z
      .string()
      .nullable()
      .describe('Pass it as `cursor` to get the next page; null on the last page.'),
  });
}

/** A position in a sorted list. */
export interface Place {
  /** The sort value, an integer. */
  readonly value: number;
  readonly id: string;
}

/**
 * A cursor contains its list and its owner, so that a cursor of another list or user is rejected. It does not contain
 * filters.
 */
export function encodeCursor(list: string, owner: string, place: Place): string {
  return Buffer.from(JSON.stringify([getMark(list, owner), place.value, place.id])).toString('base64url');
}

/** @throws ApiError 422 for a malformed cursor or a cursor of another list or caller. */
export function decodeCursor(list: string, owner: string, cursor: string | undefined): Place | undefined {
  if (cursor === undefined) return undefined;
  const content = parse(cursor);
  if (!Array.isArray(content) || content.length !== 3) throw badCursor();
  const [mark, value, id] = content as unknown[];
  // A cursor is client input: reject values that a storage engine cannot compare.
  if (mark !== getMark(list, owner) || !Number.isSafeInteger(value) || !isText(id)) throw badCursor();
  return { value: value as number, id };
}

export function badCursor(): ApiError {
  const message = 'not a cursor of this list; start again without one';
  return new ApiError(422, `cursor: ${message}`, { details: [{ path: 'cursor', message }] });
}

/** Builds one page of a cursor list. `rows` has one extra row if there is a next page. */
export function toPage<R, W>(
  rows: readonly R[],
  limit: number,
  toWire: (row: R) => W,
  cursorAt: (row: R) => string,
): { data: W[]; next_cursor: string | null } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    data: page.map(toWire),
    next_cursor: rows.length > limit && last !== undefined ? cursorAt(last) : null,
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\u0000');
}

function getMark(list: string, owner: string): string {
  return hashSecret(`${list}\n${owner}`).slice(0, 12);
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}
