import * as z from 'zod';

/** The format of record ids. */
const ID = /^[0-9a-f]{24}$/;

/** Path parameters of an operation on one record. A malformed id gets 404, like an unknown id. */
export const idParams = z.object({
  id: z
    .string()
    .regex(ID)
    .describe(
      'The id of the record: 24 lower-case hexadecimal characters. A malformed id answers 404, like an unknown one.',
    ),
});

/** Whether a value has the format of a record id. In a body, a malformed id is treated as unknown too. */
export function isId(value: string): boolean {
  return ID.test(value);
}
