import * as z from 'zod';
import { countCharacters } from '../shared/characters.ts';

/** A string with a bounded length, in code points like JSON Schema, with a custom message. */
export function text({ min = 0, max }: { readonly min?: number; readonly max?: number } = {}): z.ZodString {
  let schema = z.string();
  if (min > 0) schema = schema.min(min, `expected at least ${min} ${min === 1 ? 'character' : 'characters'}`);
  if (max === undefined) return schema;
  return schema
    .refine((value) => isWithin(value, max), `expected at most ${max} characters`)
    .meta({ maxLength: max });
}

/** zod's check counts all code points of a text that is obviously too long. */
function isWithin(value: string, max: number): boolean {
  return value.length <= max || (value.length <= 2 * max && countCharacters(value) <= max);
}
