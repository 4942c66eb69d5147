import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Operation } from '../../contract/operation.ts';
import { DESCRIPTION_VERSION } from './contract.ts';
import { describeOperations } from './document.ts';

const NOW = Date.UTC(2026, 10, 22);

function toOperation(id: string, more: object = {}): Operation {
  return {
    ...{ id, method: 'POST', path: `/api/v1/${id}`, tag: 'Things', summary: 'Do it', auth: 'none' },
    ...{ scopes: [], rate: { key: 'unlimited', user: 'unlimited' }, owner: 'none', family: 'public' },
    ...{ input: {}, output: { 204: { description: 'Nothing.' } } },
    ...more,
  } as unknown as Operation;
}

async function describeOne(more: object, options: object = {}) {
  const document = await describeOperations([toOperation('op', more)], { now: NOW, ...options });
  return { ...document, operation: document.paths['/api/v1/op']?.post };
}

const schema = { $ref: '#/components/schemas/opRequest' };

describe('the sides of a description', () => {
  const operations = [
    toOperation('plain'),
    toOperation('events', { family: 'completions' }),
    toOperation('application', { family: 'application' }),
    toOperation('oauth', { family: 'oauth' }),
    toOperation('moved', { side: 'application' }),
    toOperation('back', { family: 'application', side: 'public' }),
    toOperation('untagged', { tag: undefined }),
    toOperation('untaggedOfSide', { tag: undefined, side: 'public' }),
  ];
  const idsOf = async (options: object) => {
    const { paths } = await describeOperations(operations, { now: NOW, ...options });
    return Object.values(paths).map(({ post }) => post?.operationId);
  };

  it('have the operations of their families, unless an operation names its side', async () => {
    expect(await idsOf({})).toEqual(['plain', 'events', 'back']);
    expect(await idsOf({ side: 'application' })).toEqual(['application', 'oauth', 'moved']);
  });

  it.each([
    ['public', 'Questline API'],
    ['application', 'Questline application API'],
  ] as const)('have a title: %s', async (side, title) => {
    const { openapi, info, components } = await describeOne({ side }, { side });
    expect([openapi, info]).toEqual([
      '3.1.0',
      {
        title,
        version: DESCRIPTION_VERSION,
        description: expect.stringContaining(side === 'public' ? '`errorCode`' : '`error.code`'),
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
    ]);
    const names = Object.keys(components.schemas ?? {});
    expect(names.includes('ApplicationErrorResponse')).toBe(side === 'application');
  });
});

describe('the components of a description', () => {
  it('have the parameters, headers and schemes that are used', async () => {
    const { components } = await describeOne({});
    expect(Object.keys(components.parameters ?? {})).toEqual(['RequestId']);
    expect(components.headers).toMatchObject({
      'X-Request-ID': { required: true, schema: { type: 'string' } },
      'Retry-After': { schema: { type: 'integer', minimum: 1 } },
      'X-RateLimit-Limit-Day': { schema: { type: 'integer', minimum: 0 } },
    });
    expect(components.securitySchemes).toBeUndefined();
    expect(components).not.toHaveProperty('webhooks');
    const repeatable = await describeOperations(
      [toOperation('op'), toOperation('other', { idempotent: true, auth: 'token' })],
      { now: NOW },
    );
    expect(repeatable.components.parameters).toMatchObject({
      IdempotencyKey: { in: 'header', schema: { minLength: 1, maxLength: 255 } },
    });
    expect(repeatable.components.securitySchemes).toMatchObject({ jwtAuth: { bearerFormat: 'JWT' } });
    expect(repeatable).not.toHaveProperty('webhooks');
  });

  it('list the known tags in their order, then those of the host', async () => {
    const tags = ['Zoo', 'Files', 'AI', 'Zoo'].map((tag, index) => toOperation(`op${index}`, { tag }));
    const described = await describeOperations(tags, { now: NOW });
    expect(described.tags).toEqual([
      { name: 'AI', description: expect.stringMatching(/^Chat/) },
      { name: 'Files', description: expect.any(String) },
      { name: 'Zoo' },
    ]);
  });

  it('leave schemas without properties as they are', async () => {
    const { components } = await describeOne({ input: { body: z.array(z.string()) } });
    expect(components.schemas?.opRequest).toEqual({ type: 'array', items: { type: 'string' } });
  });

  it('name a recursive schema and refer to it within itself', async () => {
    const tree = z.object({
      get children() {
        return z.array(tree);
      },
    });
    const { components } = await describeOne({ input: { body: tree } });
    expect(components.schemas?.opRequest).toMatchObject({
      properties: { children: { items: schema } },
    });
    expect(components.schemas?.opRequest).not.toHaveProperty('$schema');
  });
});

describe('a described operation', () => {
  it('has its texts, scopes and sunset', async () => {
    const bare = (await describeOne({ scopes: ['me:read'], alsoScopes: ['ai:chat'] })).operation;
    expect(bare).toMatchObject({ operationId: 'op', tags: ['Things'], summary: 'Do it', security: [] });
    for (const absent of ['description', 'deprecated', 'x-sunset', 'requestBody'])
      expect(bare).not.toHaveProperty(absent);
    for (const ofKeys of ['x-required-scopes', 'x-also-required-scopes'])
      expect(bare).not.toHaveProperty(ofKeys);
    const keyed = { auth: 'key-or-token', description: 'More.' };
    expect((await describeOne(keyed)).operation).not.toHaveProperty('x-also-required-scopes');
    expect((await describeOne(keyed)).operation).not.toHaveProperty('x-required-scopes');
    expect((await describeOne(keyed)).operation).toMatchObject({ description: 'More.' });
  });

  it('has the scopes of its keys, its sunset and its parameters', async () => {
    const { operation, components } = await describeOne({
      ...{ auth: 'key-or-token', scopes: ['me:read'], alsoScopes: ['ai:chat'], idempotent: true },
      deprecated: { since: '2026-11-01', sunset: '2027-11-01' },
      path: '/api/v1/op',
      input: { params: z.object({ id: z.string() }), query: z.object({ deep: z.string().optional() }) },
    });
    expect(operation).toMatchObject({
      ...{ deprecated: true, 'x-sunset': '2027-11-01' },
      ...{ 'x-required-scopes': ['me:read'], 'x-also-required-scopes': ['ai:chat'] },
    });
    expect(operation?.parameters).toEqual([
      { $ref: '#/components/parameters/IdempotencyKey' },
      { $ref: '#/components/parameters/RequestId' },
      { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
      { name: 'deep', in: 'query', required: false, schema: { type: 'string' } },
    ]);
    expect(components.responses?.Error500).toMatchObject({ description: 'Failed unexpectedly.' });
    expect((await describeOne({})).operation?.parameters).toEqual([
      { $ref: '#/components/parameters/RequestId' },
    ]);
  });

  it('refers to a schema that another place has', async () => {
    const body = z.object({ id: z.string() });
    const { components } = await describeOne({
      input: { body },
      output: { 200: { description: 'It.', schema: body } },
    });
    expect(components.schemas?.opResponse200).toEqual(schema);
  });

  it('requires a body that may not be empty', async () => {
    const body = async (fields: object) =>
      (await describeOne({ input: { body: z.object(fields) } })).operation?.requestBody;
    expect(await body({ name: z.string() })).toEqual({
      required: true,
      content: { 'application/json': { schema } },
    });
    expect(await body({ name: z.string().optional() })).toMatchObject({ required: false });
  });

  it.each([
    ['json', ['application/json']],
    ['json-or-form', ['application/json', 'application/x-www-form-urlencoded']],
    ['multipart', ['multipart/form-data']],
  ])('accepts bodies of its types: %s', async (bodyType, types) => {
    const { operation } = await describeOne({ bodyType, input: { body: z.object({}) } });
    const content = Object.fromEntries(types.map((type) => [type, { schema }]));
    expect(operation?.requestBody).toStrictEqual({ required: false, content });
  });

  it('shows its recorded request and answer', async () => {
    const output = { 200: { description: 'It.', schema: z.object({ id: z.string() }) } };
    const op = { request: { body: { name: 'a' } }, response: { status: 200, body: { id: 'b' } } };
    const { operation } = await describeOne(
      { input: { body: z.object({ name: z.string() }) }, output },
      { examples: { op } },
    );
    expect(operation?.requestBody).toMatchObject({
      content: { 'application/json': { example: { name: 'a' } } },
    });
    expect(operation?.responses['200']).toMatchObject({
      content: { 'application/json': { example: { id: 'b' } } },
    });
  });

  it('has a component for each answer with JSON', async () => {
    const answer = z.object({ id: z.string() });
    const { components } = await describeOne({
      output: {
        200: { description: 'It.', schema: answer },
        201: { description: 'A table.', schema: z.object({}), contentType: 'text/csv' },
      },
      refusals: [
        { status: 409, description: 'Taken.', schema: z.object({ by: z.string() }) },
        { status: 410, description: 'Gone.' },
      ],
    });
    const names = Object.keys(components.schemas ?? {}).filter((name) => name.startsWith('op'));
    expect(names).toEqual(['opResponse200', 'opResponse409']);
  });
});
