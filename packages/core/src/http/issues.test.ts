import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { validate } from './validation.ts';

/** @returns the issues of the refusal as `path: message`. */
function refuse(schema: z.ZodType, value: unknown): string[] {
  try {
    validate(schema, value);
  } catch (error) {
    const { details } = error as { details: { path: string; message: string }[] };
    return details.map(({ path, message }) => `${path}: ${message}`);
  }
  return [];
}

describe('the value of an issue', () => {
  const received = (value: unknown) => refuse(z.object({ a: z.date() }), { a: value })[0];

  it.each([
    [1.5, '1.5'],
    [true, 'true'],
    [null, 'null'],
    ['secret', '6 characters of text'],
    ['\u{1f600}', '1 characters of text'],
    ['x'.repeat(200_000), '200000 characters of text'],
    ['x'.repeat(200_001), 'more than 100000 characters of text'],
    [[1, 2], 'a list of 2'],
    [{ secret: 1 }, 'an object'],
  ])('%#: is described without quoting text', (value, got) => {
    expect(received(value)).toBe(`a: expected date, got ${got}`);
  });

  it('is not described where it is an object, unless another type is expected', () => {
    const schema = z.object({ a: z.object({ b: z.string() }).refine(() => false, 'is odd') });
    expect(refuse(schema, { a: { b: 'x' } })).toEqual(['a: is odd']);
  });

  it('is required if it is absent', () => {
    const schema = z.object({
      type: z.string(),
      value: z.enum(['a', 'b']),
      union: z.union([z.string(), z.number()]),
      custom: z.custom<string>((value) => value !== undefined),
    });
    expect(refuse(schema, {})).toEqual([
      'type: is required',
      'value: is required',
      'union: is required',
      'custom: is required',
    ]);
  });

  it('is not called required where an absent value is not the cause', () => {
    const schema = z.record(z.string(), z.number()).superRefine((_, context) => {
      context.addIssue({
        code: 'too_small',
        minimum: 1,
        inclusive: true,
        origin: 'set',
        path: ['b'],
        message: 'few',
      });
    });
    expect(refuse(schema, { a: 1 })).toEqual(['b: few']);
  });

  it('is not called required below a value that has no fields', () => {
    const schema = z.unknown().superRefine((_, context) => {
      context.addIssue({ code: 'custom', path: ['a', 'b'], message: 'is odd' });
    });
    expect(refuse(schema, { a: 'x' })).toEqual(['a.b: is odd']);
    expect(refuse(schema, { a: null })).toEqual(['a.b: is odd']);
    expect(refuse(schema, { a: {} })).toEqual(['a.b: is required']);
  });

  it('keeps the message of its schema', () => {
    const schema = z.object({ a: z.string('must be a word'), b: z.string().min(3) });
    expect(refuse(schema, { a: 1, b: 'x' })).toEqual([
      'a: must be a word, got 1',
      'b: Too small: expected string to have >=3 characters, got 1 characters of text',
    ]);
    expect(
      refuse(
        z.custom(() => false),
        1,
      ),
    ).toEqual([': Invalid input, got 1']);
    expect(refuse(z.literal('a'), 'b')).toEqual([': Invalid input: expected "a", got 1 characters of text']);
  });
});

describe('unknown fields', () => {
  const unknown = (names: readonly string[]) =>
    refuse(z.strictObject({}), Object.fromEntries(names.map((name) => [name, 1])))[0];
  const letters = (count: number) => Array.from({ length: count }, (_, at) => String.fromCharCode(97 + at));

  it('are named', () => {
    expect(unknown(['a'])).toBe(': Unrecognized key: "a"');
    expect(unknown(['a', 'b'])).toBe(': Unrecognized keys: "a", "b"');
    expect(unknown(letters(10))).toMatch(/"i", "j"$/);
    expect(unknown(letters(12))).toMatch(/"i", "j" and 2 more$/);
    expect(unknown(letters(11))).toMatch(/"i", "j" and 1 more$/);
  });

  it('are cut after 64 characters', () => {
    const name = 'x'.repeat(64);
    expect(unknown([name])).toBe(`: Unrecognized key: "${name}"`);
    expect(unknown([`${name}y`])).toBe(`: Unrecognized key: "${name}…"`);
    expect(unknown([`${'x'.repeat(63)}\u{1f600}`])).toBe(`: Unrecognized key: "${'x'.repeat(63)}\ufffd…"`);
  });
});

describe('a union', () => {
  const kinds = z.discriminatedUnion('type', [
    z.object({ type: z.literal('text'), text: z.string() }),
    z.object({ type: z.literal('image'), url: z.string() }),
  ]);

  it('has the issues of the member that the type selects', () => {
    const schema = z.object({ a: z.union([z.string(), z.array(z.object({ b: z.number() }))]) });
    expect(refuse(schema, { a: [{ b: 'x' }] })).toEqual(['a.0.b: expected number, got 1 characters of text']);
    const nested = z.union([z.string(), z.object({ a: z.union([z.number(), z.object({ b: z.number() })]) })]);
    expect(refuse(nested, { a: { b: null } })).toEqual(['a.b: expected number, got null']);
  });

  it.each([
    [z.union([z.literal('auto'), z.object({ a: z.string() })]), { a: 1 }, 'a: expected string, got 1'],
    [
      z.union([
        z.string(),
        z.object({ a: z.string() }).refine(() => false, { error: 'is odd', abort: true }),
      ]),
      { a: 'x' },
      ': is odd',
    ],
    [z.union([z.string(), z.strictObject({ a: z.string() })]), { a: 'x', b: 1 }, ': Unrecognized key: "b"'],
    [
      z.union([z.string().and(z.object({ a: z.number() })), z.object({ b: z.number() })]),
      { a: 'x', b: null },
      'b: expected number, got null',
    ],
  ])('%#: is not explained by members of another type', (schema, value, issue) => {
    expect(refuse(schema, value)).toEqual([issue]);
  });

  it('has the types of its members if none fits or several do', () => {
    const words = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]);
    expect(refuse(words, null)).toEqual([': expected text or a number or true or false or a list, got null']);
    const others = z.union([z.object({}), z.record(z.string(), z.string()), z.date()]);
    expect(refuse(others, null)).toEqual([': expected an object or date, got null']);
    const objects = z.union([z.object({ a: z.string() }), z.object({ b: z.number() })]);
    expect(refuse(objects, {})).toEqual([': expected text or a number']);
  });

  it('of values has the message of zod', () => {
    const schema = z.union([z.literal('a'), z.literal('b')]);
    expect(refuse(schema, 'c')).toEqual([': Invalid input, got 1 characters of text']);
  });

  it('keeps the message of its schema', () => {
    const schema = z.union([z.string(), z.object({ a: z.string() })], 'must be a name');
    expect(refuse(schema, { a: 1 })).toEqual([': must be a name']);
  });

  it('names the values of its discriminator', () => {
    expect(refuse(kinds, { type: 'video' })).toEqual([
      'type: Invalid option: expected one of "text"|"image", got 5 characters of text',
    ]);
    expect(refuse(kinds, {})).toEqual(['type: is required: one of "text"|"image"']);
    expect(refuse(kinds, { type: 'text' })).toEqual(['text: is required']);
  });

  it('of which one member at most may fit does not', () => {
    const schema = z.xor([z.object({ a: z.number() }), z.object({ b: z.number() })]);
    const issues = refuse(z.object({ x: schema }), { x: { a: 1, b: 1 } });
    expect(issues).toHaveLength(1);
    expect(issues[0]).toMatch(/^x: Invalid input/);
  });
});
