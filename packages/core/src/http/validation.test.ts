import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { parseQuery, validate } from './validation.ts';

/** @returns the message and the issues of the refusal. */
function refuse(schema: z.ZodType, value: unknown) {
  try {
    validate(schema, value);
  } catch (error) {
    const { status, message, details } = error as { status: number; message: string; details: unknown };
    expect(status).toBe(422);
    return { message, details: details as { path: string; message: string }[] };
  }
  throw new Error('the value is valid');
}

describe('a query', () => {
  it('has the first value of each parameter, without U+0000', () => {
    expect(parseQuery('')).toEqual({});
    expect(parseQuery('a=1&b=%20x&a=2&c=%00y')).toEqual({ a: '1', b: ' x', c: 'y' });
    expect(parseQuery('a=&a=2')).toEqual({ a: '' });
  });

  it('has no parameter that changes a prototype', () => {
    const values = parseQuery('__proto__=1&toString=2');
    expect(values).toEqual({ toString: '2' });
    expect(Object.getPrototypeOf(values)).toBe(Object.prototype);
  });
});

describe('a valid value', () => {
  it('is the output of its schema', () => {
    expect(validate(z.object({ a: z.string().default('x') }), {})).toEqual({ a: 'x' });
  });
});

describe('an invalid value', () => {
  it('is refused with all its issues, and the first one as the message', () => {
    const schema = z.object({ a: z.string(), b: z.object({ c: z.number() }), d: z.boolean() });
    const a = { path: 'a', message: 'expected string, got 1' };
    const c = { path: 'b.c', message: 'is required' };
    const d = { path: 'd', message: 'expected boolean, got null' };
    expect(refuse(schema, { a: 1, b: { c: 1 }, d: true })).toEqual({
      message: 'a: expected string, got 1',
      details: [a],
    });
    expect(refuse(schema, { a: 1, b: {}, d: null })).toEqual({
      message: 'a: expected string, got 1 (and 2 more)',
      details: [a, c, d],
    });
    expect(refuse(schema, { a: 1, b: {}, d: true }).message).toBe('a: expected string, got 1 (and 1 more)');
    expect(refuse(schema, 'x')).toEqual({
      message: 'expected object, got 1 characters of text',
      details: [{ path: '', message: 'expected object, got 1 characters of text' }],
    });
  });

  it('is refused with at most 100 issues', () => {
    const schema = z.array(z.string());
    const hundred = refuse(
      schema,
      Array.from({ length: 100 }, () => 1),
    );
    expect(hundred.details).toHaveLength(100);
    expect(hundred.details.at(-1)).toEqual({ path: '99', message: 'expected string, got 1' });
    const more = refuse(
      schema,
      Array.from({ length: 101 }, () => 1),
    );
    expect(more.details).toHaveLength(101);
    expect(more.details.at(-1)).toEqual({ path: '', message: '1 more issues are not listed' });
    expect(more.message).toBe('0: expected string, got 1 (and 100 more)');
  });

  const NOT_CHECKED = { path: '', message: 'the rest of the body was not checked' };

  it.each([
    ['list', z.object({ a: z.array(z.string()) }), (count: number) => ({ a: Array(count - 2).fill(1) })],
    [
      'object',
      z.object({ a: z.record(z.string(), z.string()) }),
      (count: number) => ({ a: Object.fromEntries(Array.from({ length: count - 2 }, (_, at) => [at, 1])) }),
    ],
    [
      'lists',
      z.object({ a: z.array(z.array(z.string())) }),
      (count: number) => ({ a: [...Array((count - 2) / 2).fill([1])] }),
    ],
  ])('of more than 4,000 values is refused with its first issues: %s', (_, schema, make) => {
    expect(refuse(schema, make(4000)).details.length).toBe(101);
    const { message, details } = refuse(schema, make(4002));
    expect(message).toMatch(
      /^a\.0(?:\.0)?: expected string, got 1 \(the rest of the body was not checked\)$/,
    );
    expect(details.at(-1)).toEqual(NOT_CHECKED);
  });

  it('of exactly 4,000 values is refused with all its issues', () => {
    const schema = z.object({ a: z.array(z.string()) });
    expect(refuse(schema, { a: Array(3998).fill(1) }).details).toHaveLength(101);
    const first = { path: 'a.0', message: 'expected string, got 1' };
    expect(refuse(schema, { a: Array(3999).fill(1) }).details).toEqual([first, NOT_CHECKED]);
  });
});
