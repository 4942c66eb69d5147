import * as z from 'zod';

/** What every id of a record looks like. */
const ID = /^[0-9a-f]{24}$/;

/** Path parameters of an operation on one record. A malformed id is an unknown one: 404. */
export const idParams = z.object({ id: z.string().regex(ID) });

/** Whether a value could be a record's id at all; in a body, a malformed id is an unknown one too. */
export function isId(value: string): boolean {
  return ID.test(value);
}
