import { describe, expect, it } from 'vitest';
import { makeExample } from './example.ts';

/** A schema that contains itself. */
function makeNested(kind: 'object' | 'array' | 'anyOf'): Record<string, unknown> {
  const schema: Record<string, unknown> =
    kind === 'object' ? { type: 'object', required: ['a'] } : kind === 'array' ? { type: 'array' } : {};
  if (kind === 'object') schema.properties = { a: schema };
  if (kind === 'array') schema.items = schema;
  if (kind === 'anyOf') schema.anyOf = [schema];
  return schema;
}

const countLevels = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(countLevels)) : 0;

const WITH_FIELD = { type: 'object', required: ['a'], properties: { a: { const: 1 } } };

describe('example of a JSON Schema', () => {
  it.each<readonly [string, Record<string, unknown>, string, unknown]>([
    ['a constant', { const: 5 }, '', 5],
    ['the choice that the text names', { enum: ['a', 'blue', 'green'] }, 'green or grey', 'green'],
    ['the first choice', { enum: ['a', 'blue'] }, '', 'a'],
    ['the first number of the text', { type: 'number' }, 'from -1.5 to 3', -1.5],
    ['one without a number', { type: 'number' }, '', 1],
    ['the default without a number', { type: 'number', default: 7 }, '', 7],
    ['a number within its bounds', { type: 'number', minimum: 2 }, '1', 2],
    ['a number within its bounds', { type: 'number', maximum: 2 }, '9', 2],
    ['a whole number', { type: 'integer' }, '1.2', 2],
    ['false', { type: 'boolean' }, 'true', false],
    ['the default', { type: 'boolean', default: true }, '', true],
    ['null', { type: 'null' }, '', null],
    ['the first of several types', { type: ['integer', 'null'] }, '4', 4],
    ['the quotation of the text', { type: 'string' }, 'Say “good morning” to her', 'good morning'],
    ['the text', { type: 'string' }, 'Say it', 'Say it'],
    ['the empty text', { type: 'string' }, '', ''],
    ['at most 200 characters', { type: 'string' }, '😀'.repeat(201), '😀'.repeat(200)],
    ['at most its length', { type: 'string', maxLength: 3 }, 'Say it', 'Say'],
    ['at most 200 characters', { type: 'string', maxLength: 300 }, 'x'.repeat(300), 'x'.repeat(200)],
    ['at least its length', { type: 'string', minLength: 4 }, 'Hi', 'Hi..'],
    ['a date', { type: 'string', format: 'date' }, 'x', '2026-01-01'],
    ['a time', { type: 'string', format: 'date-time' }, 'x', '2026-01-01T00:00:00Z'],
    ['an address', { type: 'string', format: 'email' }, 'x', 'demo@example.com'],
    [
      'the URL of the text',
      { type: 'string', format: 'uri' },
      'see http://a.example/b?c.',
      'http://a.example/b?c.',
    ],
    ['an URL', { type: 'string', format: 'uri' }, 'x', 'https://example.com/'],
    ['one item', { type: 'array', items: { type: 'string' } }, 'x', ['x']],
    ['one item at least', { type: 'array', items: { type: 'string' }, minItems: 0 }, 'x', ['x']],
    ['as many items as needed', { type: 'array', items: { type: 'number' }, minItems: 3 }, '4 5', [4, 5, 1]],
    ['no items of an unknown kind', { type: 'array', minItems: 3 }, 'x', []],
    ['no items of a list of kinds', { type: 'array', items: [{ type: 'null' }] }, 'x', []],
    ['no items of the kind null', { type: 'array', items: null }, 'x', []],
    ['an object without fields', { type: 'object', properties: { a: { type: 'null' } } }, '', {}],
    ['an object without kinds', { type: 'object', required: ['a'] }, '', {}],
    [
      'the required fields of an object',
      {
        properties: { a: { type: 'null' }, link: { type: 'string' }, c: { type: 'null' }, d: true },
        required: ['a', 'link', 'd', 'e'],
      },
      '',
      { a: null, link: 'https://example.com/' },
    ],
    ['the first alternative', { anyOf: [{ type: 'null' }, { type: 'string' }] }, 'x', null],
    ['the first alternative', { oneOf: [{ const: 2 }] }, 'x', 2],
    [
      'the first alternative with the fields beside it',
      { type: 'string', minLength: 4, allOf: [{ maxLength: 2 }] },
      'abc',
      'ab..',
    ],
    ['the fields of the first alternative', { anyOf: [WITH_FIELD] }, 'x', { a: 1 }],
    ['the fields of the first alternative', { oneOf: [WITH_FIELD] }, 'x', { a: 1 }],
    ['the fields of the first alternative', { allOf: [WITH_FIELD] }, 'x', { a: 1 }],
    ['an object instead of no alternative', { anyOf: [] }, 'x', {}],
  ])('is %s: %j', (_title, schema, text, value) => {
    expect(makeExample(schema, text)).toEqual(value);
  });

  it('has at most 16 items and eight levels', () => {
    const many = makeExample({ type: 'array', items: { type: 'null' }, minItems: 1000 }, '');
    expect(many).toHaveLength(16);
    expect(countLevels(makeExample(makeNested('object'), ''))).toBe(9);
    expect(countLevels(makeExample(makeNested('array'), ''))).toBe(9);
    expect(makeExample(makeNested('anyOf'), '')).toEqual({});
    const chain = Array.from({ length: 8 }).reduce<object>((inner) => ({ anyOf: [inner] }), { const: 1 });
    expect(makeExample(chain as Record<string, unknown>, '')).toBe(1);
    expect(makeExample({ anyOf: [chain] }, '')).toEqual({});
  });
});
