import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineOperation } from '../../contract/operation.ts';
import { text } from '../../contract/text.ts';
import { describeOperations } from './document.ts';

const before = Date.UTC(2026, 10, 21);
const after = Date.UTC(2026, 11, 1);

const record = z.object({ id: z.string(), note: text({ max: 5 }).nullable() });

const createThing = defineOperation({
  id: 'createThing',
  method: 'POST',
  path: '/api/v1/things/{id}',
  tag: 'Things',
  summary: 'Make a thing',
  auth: 'key-or-token',
  scopes: ['files:write'],
  alsoScopes: ['me:read'],
  rate: { key: 'standard', user: 'unlimited' },
  owner: 'caller',
  family: 'public',
  idempotent: true,
  input: {
    params: z.object({ id: z.string() }),
    query: z.object({ deep: z.enum(['yes', 'no']).optional() }),
    body: z.strictObject({ name: text({ min: 1, max: 3 }), count: z.number().int().optional() }),
  },
  output: { 201: { description: 'Made.', schema: record } },
  refusals: [{ status: 409, description: 'Taken.', schema: z.object({ error: z.string() }) }],
  pollResult: 'createThingResponse201',
});

const getThing = defineOperation({
  id: 'getThing',
  method: 'GET',
  path: '/api/v1/things/{id}',
  tag: 'Things',
  summary: 'Read a thing',
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'ai-tools' },
  owner: 'caller',
  family: 'public',
  deprecated: { since: '2026-11-01', sunset: '2027-11-01' },
  input: { params: z.object({ id: z.string() }) },
  output: { 200: { description: 'The thing.', schema: record } },
});

const hidden = defineOperation({
  id: 'hidden',
  method: 'GET',
  path: '/api/hidden',
  summary: 'Not described',
  auth: 'none',
  scopes: [],
  rate: { key: 'unlimited', user: 'unlimited' },
  owner: 'none',
  family: 'public',
  input: {},
  output: { 204: { description: 'Nothing.' } },
});

describe('description of operations', async () => {
  const operations = [createThing, getThing, hidden];
  const { paths, components, tags } = await describeOperations(operations, { now: before });
  const place = paths['/api/v1/things/{id}'];

  it('omits operations without a tag, and lists the tags of the others', () => {
    expect(Object.keys(paths)).toEqual(['/api/v1/things/{id}']);
    expect(tags).toEqual([{ name: 'Things' }]);
  });

  it('names request and response components after the operation', () => {
    expect(components.schemas).toMatchObject({
      createThingRequest: {
        type: 'object',
        properties: { name: { type: 'string', minLength: 1, maxLength: 3 }, count: { type: 'integer' } },
        required: ['name'],
        additionalProperties: false,
      },
      createThingResponse201: { type: 'object', required: ['id', 'note'] },
      createThingResponse409: { type: 'object', required: ['error'] },
      // A schema that is used twice is written once.
      getThingResponse200: { $ref: '#/components/schemas/createThingResponse201' },
    });
  });

  it('lists required credentials and scopes', () => {
    expect(place?.post).toMatchObject({
      operationId: 'createThing',
      security: [{ bearerAuth: [] }, { apiKeyAuth: [] }, { jwtAuth: [] }],
      'x-required-scopes': ['files:write'],
      'x-also-required-scopes': ['me:read'],
    });
    expect(place?.get).toMatchObject({
      security: [{ jwtAuth: [] }],
      deprecated: true,
      'x-sunset': '2027-11-01',
    });
    expect(place?.get).not.toHaveProperty('x-required-scopes');
  });

  it('lists every answer with its headers', () => {
    expect(Object.keys(place?.post?.responses ?? {})).toEqual([
      '201',
      '400',
      '401',
      '403',
      '404',
      '405',
      '409',
      '413',
      '422',
      '429',
      '500',
      '503',
    ]);
    expect(Object.keys(place?.get?.responses ?? {})).toEqual([
      '200',
      '401',
      '404',
      '405',
      '429',
      '500',
      '503',
    ]);
    for (const { responses } of Object.values(place ?? {})) {
      for (const [status, stated] of Object.entries(responses)) {
        const name =
          String(stated.$ref ?? '')
            .split('/')
            .at(-1) ?? '';
        const { headers } = (components.responses?.[name] ?? stated) as { headers: object };
        expect(headers, status).toHaveProperty('X-Request-ID');
        if (status === '405') expect(headers).toHaveProperty('Allow');
        if (status === '429') expect(headers).toHaveProperty('Retry-After');
      }
    }
    expect(place?.post?.responses['201']?.headers).toHaveProperty('X-RateLimit-Limit-Day');
    expect(place?.get?.responses['200']?.headers).toHaveProperty('X-RateLimit-Limit');
  });

  it('lists parameters, and the header that makes a call repeatable', () => {
    expect(place?.post?.parameters).toEqual([
      { $ref: '#/components/parameters/IdempotencyKey' },
      { $ref: '#/components/parameters/RequestId' },
      { name: 'id', required: true, schema: { type: 'string' }, in: 'path' },
      { name: 'deep', required: false, schema: { type: 'string', enum: ['yes', 'no'] }, in: 'query' },
    ]);
  });

  it('lists the deprecated name with its sunset, and omits it afterwards', async () => {
    const nameAt = async (now: number): Promise<unknown> => {
      const { ErrorResponse } = (await describeOperations([], { now })).components.schemas as Record<
        string,
        { properties: Record<string, unknown> }
      >;
      return ErrorResponse?.properties.name;
    };
    expect(await nameAt(before)).toMatchObject({ deprecated: true, 'x-sunset': '2026-12-01' });
    expect(await nameAt(after - 1)).toMatchObject({ deprecated: true });
    expect(await nameAt(after)).toBeUndefined();
  });
});

describe('length of text', () => {
  it('is counted in code points, as the description does', () => {
    const three = text({ min: 2, max: 3 });
    expect(three.safeParse('\u{1F600}\u{1F600}\u{1F600}').success).toBe(true);
    expect(three.safeParse('\u{1F600}\u{1F600}\u{1F600}a').success).toBe(false);
    expect(three.safeParse('\u{1F600}').success).toBe(false);
    expect(three.optional().safeParse(undefined).success).toBe(true);
  });
});
