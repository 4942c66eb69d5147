import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createNarrowing } from './present-fields.ts';

const SCHEMA = z.object({
  text: z.string(),
  count: z.number().optional(),
  note: z.string().nullish(),
  kind: z.enum(['a', 'b']).default('a'),
  mode: z.string().default('usual').optional(),
  options: z
    .object({ tokens: z.number().optional(), names: z.array(z.string()).optional(), seed: z.number() })
    .optional(),
  list: z.array(z.object({ id: z.string().optional() })).optional(),
});

/** More uses than a set of fields needs to get a schema of its own. */
const OFTEN = 450;

function useOften(schema: z.ZodType, value: unknown): z.ZodType {
  const narrow = createNarrowing(schema);
  for (let use = 0; use < OFTEN; use += 1) narrow(value);
  return narrow(value);
}

const FIELDS = {
  ...{ text: 'Hi', count: 2, note: null, kind: 'b', mode: 'other', unknown: 1 },
  options: { seed: 1, tokens: 5, names: ['x'], unknown: 2 },
  list: [{ id: 'one' }, {}],
};

describe('a schema of the fields that values often have', () => {
  it('has the result of the whole schema, for each set of fields', () => {
    const names = Object.keys(FIELDS);
    for (let set = 0; set < 2 ** names.length; set += 1) {
      const value = Object.fromEntries(Object.entries(FIELDS).filter((_, at) => (set >> at) % 2 === 1));
      const narrowed = useOften(SCHEMA, value);
      expect(narrowed).not.toBe(SCHEMA);
      const [mine, whole] = [narrowed.safeParse(value), SCHEMA.safeParse(value)];
      expect([mine.success, JSON.stringify(mine.data)]).toEqual([whole.success, JSON.stringify(whole.data)]);
    }
  });

  it('is made for the fields of objects in fields, too', () => {
    const value = { text: 'Hi', options: { seed: 1, tokens: 5 } };
    const narrowed = useOften(SCHEMA, value) as typeof SCHEMA;
    expect(Object.keys(narrowed.shape)).toEqual(['text', 'kind', 'mode', 'options']);
    expect(Object.keys((narrowed.shape.options as unknown as z.ZodObject).shape)).toEqual(['tokens', 'seed']);
    expect(narrowed.parse(value)).toEqual(SCHEMA.parse(value));
  });

  it('is not used for other fields: one that is unknown, one of an inner object, and one of fifty', () => {
    const narrow = (schema: z.ZodType, often: unknown, value: unknown): boolean => {
      const narrowed = createNarrowing(schema);
      for (let use = 0; use < OFTEN; use += 1) narrowed(often);
      return narrowed(value).safeParse(value).success;
    };
    expect(narrow(SCHEMA, { text: 'Hi', unknown: 1 }, { text: 'Hi', count: 'wrong' })).toBe(false);
    const options = { seed: 1, tokens: 'wrong' };
    expect(narrow(SCHEMA, { text: 'Hi', options: { seed: 1 } }, { text: 'Hi', options })).toBe(false);
    const names = Array.from({ length: 50 }, (_, at) => `field${at}`);
    const many = z.object(Object.fromEntries(names.map((name) => [name, z.number().optional()])));
    expect(narrow(many, { field0: 1, field49: 1 }, { field1: 'wrong', field49: 1 })).toBe(false);
  });

  it('refuses unknown fields where the whole schema does', () => {
    const strict = z.strictObject({ a: z.number().optional(), b: z.number().optional() });
    const narrowed = useOften(strict, { a: 1 });
    expect([narrowed.safeParse({ a: 1 }).success, narrowed.safeParse({ a: 1, c: 1 }).success]).toEqual([
      true,
      false,
    ]);
  });

  it('is not made for rare sets, for more than 64 sets, for other values, and for objects with own checks', () => {
    const fields = Array.from({ length: 7 }, (_, at) => [`f${at}`, z.number().optional()] as const);
    const schema = z.object(Object.fromEntries(fields));
    const narrow = createNarrowing(schema);
    const toValue = (set: number) =>
      Object.fromEntries(fields.filter((_, at) => (set >> at) % 2 === 1).map(([name]) => [name, 1]));
    for (let set = 0; set < 128; set += 1) {
      for (let use = 0; use < OFTEN; use += 1) narrow(toValue(set));
    }
    const made = Array.from({ length: 128 }, (_, set) => narrow(toValue(set)) !== schema);
    expect(made.filter(Boolean)).toHaveLength(64);
    for (const value of [null, [], 'text', undefined]) expect(useOften(SCHEMA, value)).toBe(SCHEMA);
    const checked = SCHEMA.refine(({ text }) => text !== '');
    expect(useOften(checked, { text: 'Hi' })).toBe(checked);
    expect(createNarrowing(SCHEMA)({ text: 'Hi' })).toBe(SCHEMA);
  });
});
