import * as z from 'zod';
import { countCharacters } from '../credits/estimates.ts';

/**
 * Text of a bounded length, counted in code points: JSON Schema counts so, where zod's own `min` and `max` count UTF-16
 * units and refuse text that the published description allows.
 */
export function text({ min = 0, max }: { readonly min?: number; readonly max?: number } = {}): z.ZodString {
  let schema = z.string();
  if (min > 0) {
    schema = schema.refine((value) => value.length >= min && countCharacters(value) >= min, {
      message: `expected at least ${min} ${min === 1 ? 'character' : 'characters'}`,
    });
  }
  if (max !== undefined) {
    schema = schema.refine((value) => value.length <= max || countCharacters(value) <= max, {
      message: `expected at most ${max} characters`,
    });
  }
  return schema.meta({ ...(min > 0 && { minLength: min }), ...(max !== undefined && { maxLength: max }) });
}
