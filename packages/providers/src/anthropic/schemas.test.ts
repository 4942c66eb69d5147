import { describe, expect, it } from 'vitest';
import { closedSchema } from './schemas.ts';

describe('schema for Anthropic', () => {
  it.each([
    [
      { type: 'string', minLength: 1, maxLength: 2 },
      { type: 'string', description: '(minLength: 1, maxLength: 2)' },
    ],
    [
      { type: 'object', properties: { minimum: { type: 'number', minimum: 0, description: 'M' } } },
      {
        type: 'object',
        properties: { minimum: { type: 'number', description: 'M\n(minimum: 0)' } },
        additionalProperties: false,
      },
    ],
    [
      { properties: {}, additionalProperties: false, required: [], enum: [{ minimum: 1 }] },
      { properties: {}, additionalProperties: false, required: [], enum: [{ minimum: 1 }] },
    ],
    [
      { type: 'array', items: { type: 'object', properties: { a: {} } }, default: [{ pattern: 'x' }] },
      {
        type: 'array',
        items: { type: 'object', properties: { a: {} }, additionalProperties: false },
        default: [{ pattern: 'x' }],
      },
    ],
    [
      { type: 'string', title: null },
      { type: 'string', title: null },
    ],
    [{ oneOf: [{ type: 'string' }, { type: 'null' }] }, { anyOf: [{ type: 'string' }, { type: 'null' }] }],
  ])('is closed, with rules in words that the vendor refuses: %j', (schema, expected) => {
    expect(closedSchema(schema)).toEqual(expected);
  });

  it.each([
    { type: 'object' },
    { type: 'object', properties: {}, additionalProperties: true },
    { properties: { a: { type: 'object' } } },
    { $ref: '#/$defs/a' },
    { properties: { a: { $ref: '#' } } },
    { type: 'object', properties: {}, patternProperties: {} },
    { anyOf: [{ type: 'string' }, { type: 'object' }] },
    { type: 'array', items: { type: 'object' } },
  ])('is absent for free keys and references: %j', (schema) => {
    expect(closedSchema(schema)).toBeUndefined();
  });

  it('may name what it does not refer to', () => {
    expect(closedSchema({ properties: { $ref: { type: 'string' } }, enum: [{ $ref: 'a' }] })).toBeDefined();
  });
});
