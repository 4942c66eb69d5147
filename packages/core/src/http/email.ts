import * as z from 'zod';

const LONGEST = 254;

/** An e-mail address as it is kept and compared: in lower case. */
export const emailAddress = z
  .string()
  .trim()
  .toLowerCase()
  .pipe(z.email('expected an e-mail address'))
  .refine((value) => value.length <= LONGEST, `expected at most ${LONGEST} characters`);
