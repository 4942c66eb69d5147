import * as z from 'zod';

/** Text of a bounded length, refused in our words. zod counts code points, as JSON Schema does. */
export function text({ min = 0, max }: { readonly min?: number; readonly max?: number } = {}): z.ZodString {
  let schema = z.string();
  if (min > 0) schema = schema.min(min, `expected at least ${min} ${min === 1 ? 'character' : 'characters'}`);
  if (max !== undefined) schema = schema.max(max, `expected at most ${max} characters`);
  return schema;
}
