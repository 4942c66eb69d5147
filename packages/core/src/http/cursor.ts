import * as z from 'zod';
import { ApiError } from '../errors.ts';
import { hashSecret } from '../identity/secrets.ts';

/** Query of a cursor list. @see open points, 1.7 */
export const pageQuery = z.object({
  limit: z
    .string()
    .regex(/^(?:[1-9]\d?|100)$/, 'expected a whole number from 1 to 100')
    .transform(Number)
    .default(25)
    .meta({ type: 'integer', minimum: 1, maximum: 100, default: 25 }),
  cursor: z
    .string()
    .min(1)
    .max(1024)
    .optional()
    .meta({ description: 'The `next_cursor` of the page before.' }),
});

/** A place in a list's order. */
export interface Place {
  /** What the list is ordered by: a whole number. */
  readonly value: number;
  readonly id: string;
}

/** A cursor says which list of whose it belongs to, so that another's is told from a good one. Filters are not in it. */
export function encodeCursor(list: string, owner: string, place: Place): string {
  return Buffer.from(JSON.stringify([markOf(list, owner), place.value, place.id])).toString('base64url');
}

/** @throws ApiError 422 for a cursor that is malformed, or of another list or caller. */
export function decodeCursor(list: string, owner: string, cursor: string | undefined): Place | undefined {
  if (cursor === undefined) return undefined;
  const content = parse(cursor);
  if (!Array.isArray(content) || content.length !== 3) throw badCursor();
  const [mark, value, id] = content as unknown[];
  // Anybody can write one: what is in it goes to the storage, where an engine may have no place for it.
  if (mark !== markOf(list, owner) || !Number.isSafeInteger(value) || !isText(id)) throw badCursor();
  return { value: value as number, id };
}

export function badCursor(): ApiError {
  const message = 'not a cursor of this list; start again without one';
  return new ApiError(422, `cursor: ${message}`, { details: [{ path: 'cursor', message }] });
}

/** What a cursor list answers: one page, and where the next one starts. `rows` holds one more than the page when there is more. */
export function pageOf<R, W>(
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

function markOf(list: string, owner: string): string {
  return hashSecret(`${list}\n${owner}`).slice(0, 12);
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}
