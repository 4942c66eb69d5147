import { defineOperation } from '@questline/core';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { WrongArgument } from '../src/results.ts';
import { getFields, type McpTool, objectSchema, operationTool } from '../src/tools/tool.ts';
import { createCall } from './tool-calls.ts';

const COMMON = {
  auth: 'key-or-token',
  scopes: ['ai:chat'],
  rate: { key: 'standard', user: 'standard' },
  owner: 'public',
  family: 'public',
  summary: 'Do it',
  output: { 200: { description: 'Done.', schema: z.object({}) } },
} as const;

const change = defineOperation({
  ...COMMON,
  id: 'changeIt',
  method: 'POST',
  path: '/api/things/{id}',
  subject: 'Thing',
  input: {
    params: z.object({ id: z.string() }),
    query: z.object({ limit: z.coerce.number().int().min(1).optional(), deep: z.string().optional() }),
    body: z.object({ name: z.string().regex(/^a/), size: z.number().optional() }),
  },
});
const SHOWN = { name: 'change', title: 'Change', description: 'Changes it.' };

describe('tool of one operation', () => {
  it('has the fields of its path, query and body', () => {
    const tool = operationTool(change, { ...SHOWN, idName: 'thing_id' });
    expect(tool).toMatchObject({ ...SHOWN, operations: ['changeIt'], isReadOnly: false });
    expect(tool.inputSchema).toMatchObject({
      type: 'object',
      properties: { thing_id: { type: 'string' }, deep: {}, name: { pattern: '^a' }, size: {} },
      required: ['thing_id', 'name'],
      additionalProperties: false,
    });
    expect(Object.keys(tool.inputSchema.properties as object)).toEqual([
      'thing_id',
      'limit',
      'deep',
      'name',
      'size',
    ]);
  });

  it('runs it with the arguments at their places', async () => {
    const call = createCall({ changeIt: { done: true } });
    const tool = operationTool(change, { ...SHOWN, idName: 'thing_id' });
    const args = { thing_id: 't1', limit: 5, deep: true, name: 'ab', size: 2 };
    expect(await tool.call(args, call)).toEqual({
      content: [{ type: 'text', text: '{"done":true}' }],
      structuredContent: { done: true },
    });
    await tool.call({ thing_id: 't1', deep: '\ud800' }, call);
    expect(call.asked).toEqual([
      [
        'changeIt',
        { params: { id: 't1' }, query: { limit: '5', deep: 'true' }, body: { name: 'ab', size: 2 } },
      ],
      ['changeIt', { params: { id: 't1' }, query: { deep: '\ufffd' }, body: {} }],
    ]);
  });

  it.each([
    [{ limit: 5 }, 'id: expected text'],
    [{ id: 7 }, 'id: expected text'],
    [{ id: 't1', thing_id: 't1' }, 'thing_id: unknown argument'],
    [{ id: 't1', toString: 'x' }, 'toString: unknown argument'],
    [{ id: 't1', limit: null }, 'limit: expected text or a number'],
    [{ id: 't1', deep: {} }, 'deep: expected text or a number'],
  ])('refuses %j', async (args, message) => {
    const call = createCall({ changeIt: {} });
    await expect(operationTool(change, SHOWN).call(args, call)).rejects.toThrow(new WrongArgument(message));
    expect(call.asked).toEqual([]);
  });

  it.each([
    ['GET', 'listIt', true],
    ['POST', 'searchIt', true],
    ['POST', 'researchIt', false],
    ['DELETE', 'deleteIt', false],
  ] as const)('%s %s only reads: %s', async (method, id, isReadOnly) => {
    const operation = defineOperation({ ...COMMON, id, method, path: '/api/things', input: {} });
    const tool = operationTool(operation, SHOWN);
    expect([tool.isReadOnly, tool.inputSchema]).toEqual([isReadOnly, objectSchema()]);
    const call = createCall({ [id]: {} });
    await tool.call({}, call);
    expect(call.asked).toEqual([[id, { query: {} }]]);
  });
});

describe('fields of a schema', () => {
  const schema = z.object({ a: z.string(), b: z.string(), c: z.string().optional() });

  it('are all, or those that are named', () => {
    expect(getFields(schema)).toMatchObject({ properties: { a: {}, b: {}, c: {} }, required: ['a', 'b'] });
    const { properties, required } = getFields(schema, ['b', 'c', 'd']);
    expect([Object.keys(properties), required]).toEqual([['b', 'c'], ['b']]);
    expect(getFields(undefined)).toEqual({ properties: {}, required: [] });
    expect(getFields(z.object({}))).toEqual({ properties: {}, required: [] });
    expect(getFields(z.object({ when: z.date() }))).toEqual({ properties: { when: {} }, required: ['when'] });
  });

  it('have no pattern where they are integers', () => {
    const texts: McpTool['inputSchema'] = {
      limit: { type: 'integer', pattern: '^[0-9]+$', minimum: 1 },
      name: { type: 'string', pattern: '^a' },
      free: { type: 'string' },
    };
    const given = z.object(
      Object.fromEntries(
        Object.entries(texts).map(([name, field]) => [name, z.unknown().meta({ ...(field as object) })]),
      ),
    );
    expect(getFields(given).properties).toEqual({
      limit: { type: 'integer', minimum: 1 },
      name: { type: 'string', pattern: '^a' },
      free: { type: 'string' },
    });
  });
});
