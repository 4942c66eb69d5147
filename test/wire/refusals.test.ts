import { type Operation, USERS } from '@questline/core';
import { CONFINED_SCOPES, getUserRateClass, SCOPES } from '@questline/core/internal';
import { StorageUnavailable } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import {
  type ExpectedError,
  JSON_TYPE,
  keyHeaders,
  ownHeaders,
  refusalBody,
  userHeaders,
} from '../support/expected.ts';
import { sampleRoutes } from '../support/sample-routes.ts';
import { createBreakableStore } from '../support/store.ts';
import { createTestApp, type TestAppOptions } from '../support/test-app.ts';
import { type Answer, createWire, type Wire } from '../support/wire.ts';
import { askFor, getPath } from './samples.ts';

const ID = 'wire-1';
const NO_CREDENTIAL = 'Authentication failed. Provide a valid API key or JWT token.';
const NO_KEYS = 'API keys are not accepted here; sign in';
const BAD_TOKEN = 'Invalid or expired token';

// The operations of the api, and samples of each kind that a host might add.
const { api } = await createTestApp({ extra: sampleRoutes });
const OPERATIONS = api.routes.map(({ operation }) => operation);
const described = (operations: readonly Operation[]): [string, Operation][] =>
  operations.map((operation) => [operation.id, operation]);
const guarded = OPERATIONS.filter(({ auth }) => auth !== 'none');
const keyed = OPERATIONS.filter(({ auth }) => auth === 'key-or-token');
// The application API validates bodies even for operations that read none.
const withBody = OPERATIONS.filter(({ input, bodyType, family, method }) => {
  const isLookedAt = family === 'application' && method !== 'GET' && method !== 'DELETE';
  return (input.body !== undefined || isLookedAt) && bodyType !== 'multipart';
});

/** A key with the required scopes. */
async function keyFor(wire: Wire, operation: Operation, input: TestAppOptions['key'] = {}): Promise<string> {
  const scopes = [...operation.scopes.slice(0, 1), ...(operation.alsoScopes ?? [])];
  return (await wire.app.issue({ scopes: scopes.length > 0 ? scopes : ['me:read'], ...input })).key;
}

/** Credentials that pass every check before the body. */
async function credentialFor(wire: Wire, operation: Operation): Promise<Record<string, string>> {
  if (operation.auth === 'none') return {};
  const credential = operation.auth === 'token' ? await wire.app.token() : await keyFor(wire, operation);
  return { Authorization: `Bearer ${credential}` };
}

function expectRefusal(
  operation: Operation,
  answer: Answer,
  refusal: ExpectedError,
  headers: Record<string, string> = {},
): void {
  expect(answer).toMatchObject({
    status: refusal.status,
    body: refusalBody(operation, refusal, { requestId: ID }),
  });
  expect(answer.body).toEqual(refusalBody(operation, refusal, { requestId: ID }));
  expect(answer.headers).toEqual({ ...ownHeaders(operation, ID), ...JSON_TYPE, ...headers });
}

describe.each(described(OPERATIONS))('%s', (_, operation) => {
  it('answers 405 with the declared methods before checking a credential', async () => {
    const wire = await createWire({ extra: sampleRoutes });
    const place = OPERATIONS.filter(({ path }) => path === operation.path);
    const allow = place.flatMap(({ method, openOrigin }) => [
      method,
      ...(method === 'GET' ? ['HEAD'] : []),
      ...(openOrigin === true ? ['OPTIONS'] : []),
    ]);
    const [first = operation] = place;
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD']) {
      if (allow.includes(method)) continue;
      const answer = await wire.send({ method, path: getPath(operation), headers: { 'X-Request-ID': ID } });
      const headers = { ...ownHeaders(first, ID), ...JSON_TYPE, allow: allow.join(', ') };
      if (method === 'HEAD') {
        expect(answer).toEqual({ status: 405, headers, text: '', body: '' });
        continue;
      }
      const message = `${method} is not allowed here; use ${allow.join(', ')}`;
      expectRefusal(first, answer, { status: 405, message }, { allow: allow.join(', ') });
    }
  });
});

describe.each(described(guarded))('%s', (_, operation) => {
  it('answers 401 for a missing or unknown credential and counts nothing', async () => {
    const wire = await createWire({ extra: sampleRoutes });
    const unknown = `svc_live_${'x'.repeat(43)}`;
    const isForTokens = operation.auth === 'token';
    const missing = isForTokens ? 'Authentication failed. Provide a valid access token.' : NO_CREDENTIAL;
    const foreign = isForTokens ? NO_KEYS : NO_CREDENTIAL;
    const cases: [Record<string, string>, string][] = [
      [{}, missing],
      [{ Authorization: '' }, missing],
      [{ Authorization: 'Basic YTpi' }, missing],
      [{ Authorization: `Bearer ${unknown}` }, foreign],
      [{ Authorization: `ApiKey ${unknown}` }, foreign],
      [{ 'x-api-key': unknown }, foreign],
      [{ Authorization: 'Bearer not.a.token' }, BAD_TOKEN],
    ];
    for (const [headers, message] of cases) {
      const answer = await wire.send({ ...askFor(operation), headers: { 'X-Request-ID': ID, ...headers } });
      expectRefusal(operation, answer, { status: 401, message }, { 'www-authenticate': 'Bearer' });
    }
  });

  it('answers 503 while the store is unavailable and 500 for other failures, and reports the cause only to the host', async () => {
    const broken = createBreakableStore();
    const wire = await createWire({ store: broken.wrap, extra: sampleRoutes });
    const headers = { 'X-Request-ID': ID, ...(await credentialFor(wire, operation)) };
    const internal =
      operation.family === 'completions' ? 'Model response error: internal error' : 'Internal server error';
    const cases: [Error, ExpectedError, Record<string, string>][] = [
      [
        new StorageUnavailable('db.internal:5432 refused'),
        { status: 503, message: 'The service is temporarily unavailable. Try again shortly.' },
        { 'retry-after': '5' },
      ],
      [new Error('relation users is corrupt'), { status: 500, message: internal }, {}],
    ];
    for (const [failure, refusal, own] of cases) {
      broken.failure = failure;
      const answer = await wire.send({ ...askFor(operation), headers });
      expectRefusal(operation, answer, refusal, own);
      expect(wire.app.incidents.at(-1)).toEqual({ operation: operation.id, requestId: ID, error: failure });
    }
  });
});

describe.each(described(keyed))('%s', (_, operation) => {
  it('answers 403 for a key without its scopes and counts nothing', async () => {
    const wire = await createWire({ extra: sampleRoutes });
    const { scopes, alsoScopes = [] } = operation;
    const other = SCOPES.filter((scope) => ![...scopes, ...alsoScopes, ...CONFINED_SCOPES].includes(scope));
    const message =
      operation.family === 'completions'
        ? 'API key does not have permission for AI completions'
        : 'API key does not have the scopes this operation requires';
    const extra = {
      required_scopes: scopes,
      ...(alsoScopes.length > 0 && { also_required_scopes: alsoScopes }),
    };
    const short = scopes.length > 0 ? [['admin:*'], other] : [];
    for (const held of [...short, ...CONFINED_SCOPES.map((scope) => [scope])] as (typeof other)[]) {
      const { key } = await wire.app.issue({ scopes: held });
      const headers = { 'X-Request-ID': ID, Authorization: `Bearer ${key}` };
      const answer = await wire.send({ ...askFor(operation), headers });
      expectRefusal(operation, answer, { status: 403, message, extra });
    }
    // An access token beside the key changes nothing: the key has priority.
    const { key } = await wire.app.issue({ scopes: ['qa:ingest'] });
    const headers = {
      'X-Request-ID': ID,
      Authorization: `Bearer ${await wire.app.token()}`,
      'x-api-key': key,
    };
    expectRefusal(operation, await wire.send({ ...askFor(operation), headers }), {
      status: 403,
      message,
      extra,
    });
  });

  it('answers 429 at the minute limit, and at the day limit if the operation counts', async () => {
    const wire = await createWire({ extra: sampleRoutes });
    const minute = await keyFor(wire, operation, { requestsPerMinute: 1 });
    const asked = (key: string) => ({
      ...askFor(operation),
      headers: { 'X-Request-ID': ID, Authorization: `Bearer ${key}` },
    });
    expect((await wire.send(asked(minute))).headers).toMatchObject(keyHeaders(operation, 1, { minute: 1 }));
    expectRefusal(
      operation,
      await wire.send(asked(minute)),
      { status: 429, message: 'Rate limit exceeded: 1 request per minute allowed' },
      { ...keyHeaders(operation, 1, { minute: 1 }), 'retry-after': '60' },
    );
    const day = await keyFor(wire, operation, { requestsPerDay: 1 });
    expect((await wire.send(asked(day))).headers).toMatchObject(keyHeaders(operation, 1, { day: 1 }));
    const second = await wire.send(asked(day));
    if (operation.rate.key === 'day-exempt') {
      expect(second.status).not.toBe(429);
      expect(second.headers).toMatchObject(keyHeaders(operation, 2, { day: 1 }));
    } else {
      expectRefusal(
        operation,
        second,
        { status: 429, message: 'Rate limit exceeded: 1 request per day allowed' },
        // The request was not counted in the minute.
        { ...keyHeaders(operation, 1, { day: 1 }), 'retry-after': '86400' },
      );
    }
  });
});

describe.each(described(guarded))('%s', (_, operation) => {
  it('counts signed-in users by the rate class of the operation without key headers', async () => {
    const limited = getUserRateClass(operation);
    const wire = await createWire({
      extra: sampleRoutes,
      ...(limited !== undefined && { settings: { rateLimits: { [limited]: { limit: 1, per: 'hour' } } } }),
    });
    const { services, token, user } = wire.app;
    // Signing out invalidates the token, so each call needs a new one.
    const ask = async (): Promise<Answer> => {
      const credential = await token(await services.store.collection(USERS).get(user.id));
      const headers = { 'X-Request-ID': ID, Authorization: `Bearer ${credential}` };
      return wire.send({ ...askFor(operation), headers });
    };
    const first = await ask();
    const second = await ask();
    if (limited === undefined) {
      for (const { headers: sent } of [first, second])
        expect(Object.keys(sent).filter((name) => name.includes('ratelimit'))).toEqual([]);
      return;
    }
    expect(first.headers).toMatchObject(userHeaders(1, 0, 3_600_000));
    expectRefusal(
      operation,
      second,
      { status: 429, message: 'Rate limit exceeded: 1 request per hour allowed' },
      { ...userHeaders(1, 0, 3_600_000), 'retry-after': '3600' },
    );
  });
});

describe.each(described(OPERATIONS.filter(({ input }) => input.params !== undefined)))(
  '%s',
  (_, operation) => {
    it('answers 404 for a malformed id with the text for an unknown one', async () => {
      const wire = await createWire({ extra: sampleRoutes });
      const headers = { 'X-Request-ID': ID, ...(await credentialFor(wire, operation)) };
      const { subject = 'Resource', subjectCode } = operation;
      const refusal: ExpectedError = {
        status: 404,
        message: `${subject} not found`,
        ...(subjectCode !== undefined && { code: subjectCode }),
      };
      // A data lake can be named by a slug, and most malformed ids are valid slugs.
      const isSlugToo = operation.path.startsWith('/api/v1/data-lakes/{id}');
      // A chat can be named by any text of up to 200 characters.
      const isAnyText = operation.path.startsWith('/api/chat/{id}/');
      const ids = ['1', 'x'.repeat(24), '0'.repeat(25), '%00', '..%2F..', "'%20OR%201=1"];
      for (const id of isAnyText ? ['x'.repeat(201)] : ids) {
        if (isSlugToo && /^[a-z0-9-]+$/.test(id)) continue;
        const path = operation.path.replace(/\{[^}]+\}/, id).replaceAll(/\{[^}]+\}/g, '0'.repeat(24));
        const answer = await wire.send({ ...askFor(operation), path, headers });
        expect(answer).toMatchObject({
          status: 404,
          body: refusalBody(operation, refusal, { requestId: ID }),
        });
      }
      const undecodable = operation.path.replaceAll(/\{[^}]+\}/g, '%zz');
      const answer = await wire.send({ method: operation.method, path: undecodable, headers });
      expect(answer.status).toBe(404);
    });
  },
);

describe.each(described(withBody))('%s', (_, operation) => {
  const schemaFault = (message: string): ExpectedError => ({
    status: operation.bodyFault?.status ?? 422,
    message,
    ...(operation.family === 'application' && { details: [{ path: '', message }] }),
    ...(operation.bodyFault !== undefined &&
      operation.family === 'application' && { code: operation.bodyFault.applicationCode }),
  });
  const malformed = (message: string): ExpectedError => ({ status: 400, message });
  const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
  const notJson = malformed('the body is not valid JSON');
  const allowsForm = operation.bodyType === 'json-or-form';
  const types = `application/json${allowsForm ? ' or application/x-www-form-urlencoded' : ''}`;
  const notTyped = malformed(`Content-Type must be ${types} for a request with a body`);
  const deep = malformed('the body is nested more than 100 levels deep');
  const cases: [title: string, body: unknown, type: string | undefined, ExpectedError][] = [
    ['broken JSON', '{"a":', undefined, notJson],
    ['text that is not JSON', 'hello', undefined, notJson],
    ['JSON followed by other text', '{} {}', undefined, notJson],
    ['a byte order mark', '\u{FEFF}{}', undefined, notJson],
    ['another type', '{}', 'text/plain', notTyped],
    [
      'a form',
      'a=1&a=2',
      'application/x-www-form-urlencoded',
      allowsForm ? malformed('a form field occurs more than once') : notTyped,
    ],
    ['no type', new TextEncoder().encode('{}'), undefined, notTyped],
    [
      'another charset',
      '{}',
      'application/json; charset=latin1',
      malformed('Content-Type: the charset must be utf-8'),
    ],
    [
      'invalid UTF-8',
      Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d),
      'application/json',
      malformed('the body is not valid UTF-8'),
    ],
    ['JSON 101 levels deep', nested(101), undefined, deep],
    ['JSON 10,000 levels deep', nested(10_000), undefined, deep],
    ['an array', '[]', undefined, schemaFault('the body must be a JSON object, got an array')],
    ['a string', '"hello"', undefined, schemaFault('the body must be a JSON object, got a string')],
    ['a number', '7', undefined, schemaFault('the body must be a JSON object, got a number')],
    ['null', 'null', undefined, schemaFault('the body must be a JSON object, got null')],
    ['U+0000 in a string', '{"a":"b\\u0000c"}', undefined, schemaFault('strings must not contain U+0000')],
    ['U+0000 in a key', '{"b\\u0000c":1}', undefined, schemaFault('strings must not contain U+0000')],
  ];

  it.each(cases)('rejects %s and counts the request', async (_title, body, type, refusal) => {
    const wire = await createWire({ extra: sampleRoutes });
    const headers = {
      'X-Request-ID': ID,
      ...(type !== undefined && { 'Content-Type': type }),
      ...(await credentialFor(wire, operation)),
    };
    const answer = await wire.send({ method: operation.method, path: getPath(operation), headers, body });
    const limits = operation.auth === 'key-or-token' ? keyHeaders(operation) : {};
    expect(answer.status).toBe(refusal.status);
    expect(answer.body).toEqual(refusalBody(operation, refusal, { requestId: ID }));
    expect(answer.headers).toMatchObject(limits);
  });

  it('rejects one byte above its limit by Content-Length or while reading', async () => {
    const wire = await createWire({ extra: sampleRoutes });
    const limit = operation.bodyLimit ?? 2 ** 20;
    const headers = { 'X-Request-ID': ID, ...(await credentialFor(wire, operation)) };
    const body = Buffer.alloc(limit + 1, ' ');
    const refusal: ExpectedError = {
      status: 413,
      message: `the body is larger than ${limit} bytes`,
      extra: { maxSize: limit },
    };
    const asked = { method: operation.method, path: getPath(operation), body };
    const type = { 'Content-Type': 'application/json' };
    for (const declared of [{}, { 'Content-Length': String(limit + 1) }]) {
      const answer = await wire.send({ ...asked, headers: { ...headers, ...type, ...declared } });
      expect(answer.status).toBe(413);
      expect(answer.body).toEqual(refusalBody(operation, refusal, { requestId: ID }));
    }
    // A body of exactly the limit passes the check; blanks are not JSON.
    const answer = await wire.send({
      ...asked,
      body: body.subarray(0, limit),
      headers: { ...headers, ...type },
    });
    expect(answer.status).toBe(400);
  });
});
