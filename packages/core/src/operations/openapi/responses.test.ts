import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Operation } from '../../contract/operation.ts';
import { headerRefs, KEY_HEADER_NAMES, USER_HEADER_NAMES } from './headers.ts';
import { toMediaType } from './media.ts';
import { hasSchema, toResponses } from './responses.ts';
import type { JsonSchema } from './schemas.ts';
import { toSecurity, toSecuritySchemes } from './security.ts';

const ID = 'X-Request-ID';

function toOperation(more: object = {}): Operation {
  return {
    ...{ id: 'op', method: 'GET', path: '/api/x', summary: '', auth: 'none', scopes: [], owner: 'none' },
    ...{ rate: { key: 'unlimited', user: 'unlimited' }, family: 'public', input: {} },
    output: { 204: { description: 'Nothing.' } },
    ...more,
  } as unknown as Operation;
}

function respond(more: object = {}, examples?: Parameters<typeof toResponses>[2]) {
  const shared: Record<string, JsonSchema> = {};
  return { responses: toResponses(toOperation(more), shared, examples), shared };
}

const statusesOf = (more: object) => Object.keys(respond(more).responses).map(Number);

const REFUSED = [405, 500, 503];
const limited = { rate: { key: 'standard', user: 'standard' } };

describe('the statuses of an operation', () => {
  it.each<[string, object, readonly number[]]>([
    ['without anything', {}, []],
    ['with a credential', { auth: 'token' }, [401]],
    ['with keys', { auth: 'key-or-token' }, [401, 403]],
    [
      'with limited keys',
      { auth: 'key-or-token', rate: { key: 'standard', user: 'unlimited' } },
      [401, 403, 429],
    ],
    ['with limited users', { auth: 'token', rate: { key: 'unlimited', user: 'work' } }, [401, 429]],
    ['with a limit but no caller', limited, []],
    ['with an id in the path', { input: { params: z.object({}) } }, [404]],
    ['with a query', { input: { query: z.object({}) } }, [422]],
    ['with a body', { method: 'POST', input: { body: z.object({}) } }, [400, 413, 422]],
    ['with repeatable calls', { method: 'POST', idempotent: true }, [422]],
    ['of the application', { family: 'application' }, [400]],
    ['of the application that deletes', { family: 'application', method: 'DELETE' }, [400]],
    ['of the application that writes', { family: 'application', method: 'POST' }, [400, 413, 422]],
    ['with refusals', { refusals: [{ status: 409, description: 'Taken.' }] }, [409]],
  ])('%s', (_, more, own) => {
    expect(statusesOf(more)).toEqual([204, ...[...own, ...REFUSED].sort((a, b) => a - b)]);
  });

  it('states an own answer once, in place of a refusal', () => {
    const output = { 200: { description: 'Well.' }, 503: { description: 'Not well.' } };
    const { responses } = respond({ output });
    expect(responses['503']).toMatchObject({ description: 'Not well.' });
  });
});

describe('the refusals of an operation', () => {
  it.each([
    [{}, 'Error500'],
    [{ family: 'completions' }, 'CompletionError500'],
    [{ family: 'application' }, 'ApplicationError500'],
    [{ family: 'oauth' }, 'OAuthError500'],
    [limited, 'Error500'],
    [{ auth: 'token', ...limited }, 'Error500User'],
    [{ auth: 'key-or-token', ...limited }, 'Error500KeyOrUser'],
    [{ auth: 'key-or-token', rate: { key: 'standard', user: 'unlimited' } }, 'Error500Key'],
    [{ auth: 'key-or-token', rate: { key: 'unlimited', user: 'unlimited' } }, 'Error500'],
  ])('are shared with those of the same family and headers: %o', (more, name) => {
    const { responses, shared } = respond(more);
    expect(responses['500']).toEqual({ $ref: `#/components/responses/${name}` });
    expect(shared[name]).toMatchObject({ description: 'Failed unexpectedly.' });
    expect(responses['405']).toEqual({ $ref: `#/components/responses/${name.replace(/500.*/, '405')}` });
  });

  it('have the headers of their limits', () => {
    const { shared } = respond({ auth: 'key-or-token', ...limited });
    const names = [401, 403, 405, 429, 500, 503].map((status) => `Error${status}KeyOrUser`);
    expect(Object.keys(shared)).toEqual(names.map((name) => name.replace('405KeyOrUser', '405')));
    const both = [...KEY_HEADER_NAMES, ...USER_HEADER_NAMES];
    expect(shared).toMatchObject({
      Error401KeyOrUser: { headers: headerRefs([ID, 'WWW-Authenticate', ...both]) },
      Error403KeyOrUser: { headers: headerRefs([ID, ...both]) },
      Error429KeyOrUser: { headers: headerRefs([ID, 'Retry-After', ...both]) },
      Error503KeyOrUser: { headers: headerRefs([ID, 'Retry-After', ...both]) },
    });
    expect(shared.Error405).toStrictEqual({
      description: 'The path does not support this method.',
      headers: headerRefs([ID, 'Allow']),
      content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorResponse' } } },
    });
    expect(Object.keys(respond(limited).shared.Error500?.headers ?? {})).toEqual([ID]);
  });

  it('may be of the operation itself, with a schema of its own or without', () => {
    const { responses, shared } = respond({
      refusals: [
        { status: 409, description: 'Taken.', schema: z.object({}) },
        { status: 418, description: 'A teapot.' },
      ],
    });
    expect(responses['409']).toMatchObject({
      description: 'Taken.',
      content: { 'application/json': { schema: { $ref: '#/components/schemas/opResponse409' } } },
    });
    expect(responses['418']).toMatchObject({
      description: 'A teapot.',
      content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorResponse' } } },
    });
    expect(Object.keys(shared)).toEqual(['Error405', 'Error500', 'Error503']);
  });
});

describe('the answer of an operation', () => {
  const schema = z.object({});
  const opAnswer = { $ref: '#/components/schemas/opResponse200' };
  const answer = (output: object, more: object = {}, examples?: Parameters<typeof toResponses>[2]) =>
    respond({ output: { 200: { description: 'It.', ...output } }, ...more }, examples).responses['200'];

  it('is JSON with a schema', () => {
    expect(answer({ schema })).toStrictEqual({
      description: 'It.',
      headers: headerRefs([ID]),
      content: { 'application/json': { schema: opAnswer } },
    });
  });

  it('may have no body', () => {
    expect(answer({})).toStrictEqual({ description: 'It.', headers: headerRefs([ID]) });
  });

  it('may be text, bytes or events', () => {
    const content = (output: object) => answer(output)?.content;
    const bytes = { schema: { type: 'string', format: 'binary' } };
    expect(content({ contentType: 'text/html' })).toStrictEqual({
      'text/html': { schema: { type: 'string' } },
    });
    expect(content({ contentType: 'image/png' })).toStrictEqual({ 'image/png': bytes });
    expect(content({ contentType: 'text/event-stream', schema })).toStrictEqual({
      'text/event-stream': { schema: opAnswer },
    });
    expect(content({ contentType: 'text/csv', schema })).toStrictEqual({
      'text/csv': { schema: { type: 'string' } },
    });
    expect(content({ binary: 'audio/*', schema })).toStrictEqual({
      'application/json': { schema: opAnswer },
      'audio/*': bytes,
    });
    expect([hasSchema({ description: '' }), hasSchema({ description: '', schema })]).toEqual([false, true]);
  });

  it('states its headers and limits', () => {
    const own = { 'X-Own': 'What it means.' };
    const { headers } = answer({ headers: own }, { auth: 'key-or-token', ...limited }) ?? {};
    expect(headers).toStrictEqual({
      ...headerRefs([ID, ...KEY_HEADER_NAMES, ...USER_HEADER_NAMES]),
      'X-Own': { description: 'What it means.', schema: { type: 'string' } },
    });
  });

  it('names the result to poll', () => {
    const output = { 200: { description: 'It.' }, 202: { description: 'Later.' } };
    const { responses } = respond({ output, pollResult: 'result' });
    expect(responses['200']).toMatchObject({
      'x-poll-result': { schema: { $ref: '#/components/schemas/result' } },
    });
    expect(responses['202']).not.toHaveProperty('x-poll-result');
  });

  it('shows the recorded answer of its status', () => {
    const recorded = (status: number) =>
      answer({ schema }, {}, { response: { status, body: { id: 'a' } } })?.content;
    expect(recorded(200)).toEqual({ 'application/json': { schema: opAnswer, example: { id: 'a' } } });
    expect(recorded(201)).toEqual({ 'application/json': { schema: opAnswer } });
  });

  it('shows each event of a stream as an example', () => {
    const schema = { type: 'object' };
    const shown = (type: string, example: unknown) => toMediaType(type, schema, example);
    expect(shown('text/event-stream', ['a', 'b'])).toStrictEqual({
      schema,
      examples: { event1: { value: 'a' }, event2: { value: 'b' } },
    });
    expect(shown('text/event-stream', 'a')).toStrictEqual({ schema, example: 'a' });
    expect(shown('application/json', ['a'])).toStrictEqual({ schema, example: ['a'] });
    expect(shown('application/json', undefined)).toStrictEqual({ schema });
  });
});

describe('the credentials of operations', () => {
  it('are those that the operations use', () => {
    expect(Object.keys(toSecuritySchemes(['none']))).toEqual([]);
    expect(Object.keys(toSecuritySchemes(['none', 'token']))).toEqual(['jwtAuth']);
    const all = ['bearerAuth', 'apiKeyAuth', 'jwtAuth'];
    expect(Object.keys(toSecuritySchemes(['none', 'key-or-token']))).toEqual(all);
    expect(toSecurity('key-or-token')).toEqual([{ bearerAuth: [] }, { apiKeyAuth: [] }, { jwtAuth: [] }]);
    expect([toSecurity('token'), toSecurity('none')]).toEqual([[{ jwtAuth: [] }], []]);
  });
});
