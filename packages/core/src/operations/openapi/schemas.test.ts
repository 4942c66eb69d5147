import { zodToOpenAPIRegistry } from '@asteasolutions/zod-to-openapi';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineOperation } from '../../contract/operation.ts';
import { describeOperations } from './document.ts';
import type { JsonSchema } from './schemas.ts';

const NOW = Date.UTC(2026, 10, 22);

const define = (id: string, body: z.ZodType, answer: z.ZodType) =>
  defineOperation({
    id,
    method: 'POST',
    path: `/api/v1/${id}`,
    tag: 'Things',
    summary: 'Make a thing',
    auth: 'none',
    scopes: [],
    rate: { key: 'unlimited', user: 'unlimited' },
    owner: 'none',
    family: 'public',
    input: { body },
    output: { 200: { description: 'It.', schema: answer } },
  });

/** The component of a request body with one field. */
async function toField(schema: z.ZodType): Promise<JsonSchema> {
  const operation = define('makeThing', z.object({ field: schema }), z.object({}));
  const { components } = await describeOperations([operation], { now: NOW });
  const { makeThingRequest } = components.schemas as unknown as Record<
    string,
    { readonly properties: { readonly field: JsonSchema } }
  >;
  return makeThingRequest?.properties.field as JsonSchema;
}

describe('schemas of the description', () => {
  it.each<[string, z.ZodType, JsonSchema]>([
    ['all values of a literal', z.literal(['a', 'b']), { type: 'string', enum: ['a', 'b'] }],
    [
      'null beside a declared type',
      z.string().meta({ type: 'integer' }).nullable(),
      { type: ['integer', 'null'] },
    ],
    ['an encoding', z.base64(), { type: 'string', format: 'base64', contentEncoding: 'base64' }],
    ['the format of text', z.iso.date(), { type: 'string', format: 'date', pattern: expect.any(String) }],
    [
      'the values beside null',
      z.enum(['a', 'b']).meta({ type: 'string' }).nullable(),
      { type: ['string', 'null'] },
    ],
    [
      'null among declared values',
      z
        .string()
        .meta({ type: 'string', enum: ['a'] })
        .nullable(),
      { type: ['string', 'null'], enum: ['a', null] },
    ],
    [
      'null beside a default',
      z.string().meta({ type: 'integer' }).default('x').nullable(),
      { type: ['integer', 'null'] },
    ],
    [
      'null beside the type of a wrapper',
      z.string().default('x').meta({ type: 'integer' }).nullable(),
      { type: ['integer', 'null'] },
    ],
    [
      'null beside the values of a literal',
      z.literal(['a', 'b']).nullable(),
      { type: ['string', 'null'], enum: ['a', 'b', null] },
    ],
    [
      'null that was declared',
      z
        .string()
        .meta({ type: ['integer', 'null'] })
        .nullable(),
      { type: ['integer', 'null'] },
    ],
    [
      'null beside the input of a pipe',
      z.string().meta({ type: 'integer' }).pipe(z.string()).nullable(),
      { type: ['integer', 'null'] },
    ],
    ['a format of numbers', z.int32(), { type: 'integer', minimum: -2147483648, maximum: 2147483647 }],
    [
      'null beside values that are declared without a type',
      z
        .string()
        .meta({ enum: ['a'] })
        .nullable(),
      { type: ['string', 'null'], enum: ['a', null] },
    ],
    ['a null among values', z.literal(['a', null]), { enum: ['a', null] }],
    ['a tuple', z.tuple([z.string(), z.int()]), { type: 'array', minItems: 2, maxItems: 2 }],
    ['a step', z.number().multipleOf(5), { type: 'number', multipleOf: 5 }],
    [
      'both of two patterns',
      z.string().regex(/a/).regex(/b/),
      { allOf: [{ pattern: 'a' }, { pattern: 'b' }] },
    ],
    ['a pattern with flags', z.string().regex(/^a$/u), { type: 'string', pattern: '^a$' }],
    ['the names of a record', z.record(z.string().max(3), z.int()), { propertyNames: { maxLength: 3 } }],
    ['a fallback', z.string().catch('x'), { type: 'string' }],
    ['a value of the host', z.custom<object>(), { type: expect.arrayContaining(['object', 'null']) }],
    ['a file', z.file(), { type: 'string', format: 'binary' }],
  ])('keeps %s', async (_, schema, expected) => {
    expect(await toField(schema)).toMatchObject(expected);
  });

  it.each<[string, z.ZodType, JsonSchema]>([
    ['bounds of safe integers', z.int(), { type: 'integer' }],
    [
      'the names of a plain record',
      z.record(z.string(), z.string()),
      { type: 'object', additionalProperties: { type: 'string' } },
    ],
    ['anything about plain text', z.string().max(3), { type: 'string', maxLength: 3 }],
    [
      'anything about one pattern',
      z.string().max(9).regex(/^a$/),
      { type: 'string', maxLength: 9, pattern: '^a$' },
    ],
    ['more about null', z.string().max(3).nullable(), { type: ['string', 'null'], maxLength: 3 }],
    [
      'more about a number with a step',
      z.number().min(0).multipleOf(5),
      { type: 'number', minimum: 0, multipleOf: 5 },
    ],
    ['more about a literal', z.literal('a'), { type: 'string', enum: ['a'] }],
  ])('adds no %s', async (_, schema, expected) => {
    expect(await toField(schema)).toStrictEqual(expected);
  });

  it('requires a field that can have any value', async () => {
    const operation = define('makeThing', z.object({ any: z.unknown() }), z.object({}));
    const { components } = await describeOperations([operation], { now: NOW });
    expect(components.schemas).toMatchObject({ makeThingRequest: { required: ['any'] } });
  });

  it('allows null in place of a component', async () => {
    const thing = z.object({ id: z.string() });
    const operation = define('makeThing', thing, z.object({ thing: thing.nullable() }));
    const { components } = await describeOperations([operation], { now: NOW });
    expect(components.schemas).toMatchObject({
      makeThingResponse200: { properties: { thing: { type: ['object', 'null'], required: ['id'] } } },
    });
  });

  it('describes a recursive schema', async () => {
    const tree = z.object({
      name: z.string(),
      get children() {
        return z.array(tree);
      },
    });
    const operation = define('makeTree', tree, z.object({ tree }));
    const { components } = await describeOperations([operation], { now: NOW });
    expect(components.schemas).toMatchObject({
      makeTreeRequest: {
        properties: { children: { items: { $ref: '#/components/schemas/makeTreeRequest' } } },
      },
    });
  });

  it('describes a schema whose part is recursive, as callers send it', async () => {
    const tree = z.object({
      name: z.string().default('x'),
      since: z.date(),
      get children(): z.ZodType {
        return z.array(tree).transform((all) => all.length);
      },
    });
    const operation = define('makeTree', z.object({ tree }), z.object({}));
    const { makeTreeRequest } = (await describeOperations([operation], { now: NOW })).components
      .schemas as unknown as Record<string, JsonSchema>;
    const written = JSON.stringify(makeTreeRequest);
    expect(written).toContain('"$ref":"#/components/schemas/makeTreeRequest/');
    expect(written).not.toContain('"#/$defs');
    expect(written).toContain('"required":["since","children"]');
    expect(makeTreeRequest).not.toHaveProperty('$schema');
  });

  it('requires only what callers must send', async () => {
    const body = z.object({ any: z.unknown(), usual: z.string().default('x') });
    const { components } = await describeOperations([define('makeThing', body, z.object({}))], { now: NOW });
    expect(components.schemas?.makeThingRequest).toMatchObject({ required: ['any'] });
  });

  it('keeps null alone, and states no bounds of safe integers beside a fallback', async () => {
    expect(await toField(z.literal(null))).toMatchObject({ type: 'null' });
    const field = await toField(z.int().catch(1));
    expect(field).toMatchObject({ type: 'integer' });
    for (const bound of ['minimum', 'maximum']) expect(field).not.toHaveProperty(bound);
  });

  it('leaves nothing in the registry of the generator, and no method on the schemas', async () => {
    const body = z.object({ field: z.literal(['a', 'b']) });
    await describeOperations([define('makeThing', body, body)], { now: NOW });
    expect([body, body.shape.field].map((schema) => zodToOpenAPIRegistry.has(schema))).toEqual([
      false,
      false,
    ]);
    expect(body).not.toHaveProperty('openapi');
  });

  it('keeps what a host has registered for its own documents', async () => {
    const body = z.object({ field: z.string() });
    zodToOpenAPIRegistry.add(body, { description: 'Of the host.' });
    await describeOperations([define('makeThing', body, z.object({}))], { now: NOW });
    expect(zodToOpenAPIRegistry.get(body)).toEqual({ description: 'Of the host.' });
    zodToOpenAPIRegistry.remove(body);
  });
});
