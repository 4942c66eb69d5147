import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { ApiRequest } from '../contract/message.ts';
import type { Operation } from '../contract/operation.ts';
import { type Handler, Reply } from '../contract/reply.ts';
import { createMemoryLimiter } from '../memory/limiter.ts';
import { StorageUnavailable } from '../ports/store.ts';
import { ApiError } from '../shared/errors.ts';
import type { Incident } from '../shared/incident.ts';
import { type BodyVariant, type PipelineServices, refuse } from './pipeline.ts';
import { DEFAULT_RATE_LIMITS } from './rates.ts';
import { defineRoute } from './route.ts';

const ADA = { kind: 'token', userId: 'ada', isAdmin: false } as const;
const KEY = { kind: 'key', userId: 'ada', keyId: 'k', scopes: [], requestsPerMinute: 2, requestsPerDay: 9 };

function toOperation(more: object): Operation {
  return {
    ...{
      id: 'op',
      method: 'POST',
      path: '/x',
      summary: '',
      auth: 'key-or-token',
      scopes: [],
      owner: 'caller',
    },
    ...{ rate: { key: 'standard', user: 'unlimited' }, family: 'public', input: {}, output: { 201: {} } },
    ...more,
  } as unknown as Operation;
}

interface Given {
  readonly body?: unknown;
  readonly text?: string;
  readonly query?: string;
  readonly params?: Record<string, string>;
}

function toRequest({ body, text, query = '', params }: Given): ApiRequest {
  const bytes = text === undefined ? new Uint8Array() : Buffer.from(text);
  return {
    ...{ method: 'POST', path: '/x', mountPath: '/ai', query, protocol: 'http', remoteAddress: undefined },
    headers: {
      'x-request-id': 'request-1',
      ...(text !== undefined && { 'content-type': 'application/json', 'content-length': `${bytes.length}` }),
    },
    body: {
      ...(body !== undefined && { parsed: body }),
      async bytes(limit: number) {
        if (bytes.length > limit) throw Object.assign(new Error('large'), { name: 'BodyTooLarge', limit });
        return bytes;
      },
      async *stream() {
        yield bytes;
      },
    },
    signal: new AbortController().signal,
    connection: { aborted: false } as never,
    ...(params && { params }),
  } as ApiRequest;
}

function setUp(more: object = {}, services: Partial<PipelineServices> = {}, variant?: BodyVariant) {
  const reported: Incident[] = [];
  const called: unknown[][] = [];
  let answer: () => unknown = () => ({ ok: true });
  const all: PipelineServices = {
    ...{ clock: createFakeClock(), ids: createFakeIds(), limiter: createMemoryLimiter() },
    ...{ limits: DEFAULT_RATE_LIMITS, authenticator: { authenticate: () => ADA } as never },
    onError: (incident) => void reported.push(incident),
    ...services,
  };
  const handler = async (...given: unknown[]) => {
    called.push(given);
    return answer();
  };
  const route = defineRoute(toOperation(more), all, handler as unknown as Handler<Operation>, variant);
  const run = async (given: Given = {}) => {
    const response = await route.handle(toRequest(given));
    if (response === undefined) throw new Error('no response');
    const { status, headers, body } = response;
    return { status, headers, body: typeof body === 'string' ? JSON.parse(body) : body };
  };
  return { run, called, reported, all, answerBy: (next: () => unknown) => (answer = next) };
}

const refusing = (error: unknown) => () => {
  throw error;
};

describe('a call', () => {
  it('is answered with the first status of the operation', async () => {
    const { run, called } = setUp();
    expect(await run()).toEqual({
      status: 201,
      headers: {
        ...{ 'X-Request-ID': 'request-1', 'Cache-Control': 'private, no-store' },
        'Content-Type': 'application/json; charset=utf-8',
      },
      body: { ok: true },
    });
    expect(called[0]?.[1]).toMatchObject({ requestId: 'request-1', caller: ADA, mountPath: '/ai' });
    const call = called[0]?.[1] as { id: string; request: ApiRequest; signal: unknown; connection: unknown };
    expect(call.id).toMatch(/^[0-9a-f]{24}$/);
    expect([call.signal, call.connection]).toEqual([call.request.signal, call.request.connection]);
    expect((await setUp({ output: {} }).run()).status).toBe(200);
  });

  it('is answered with a reply or without a body', async () => {
    const { run, answerBy } = setUp();
    answerBy(() => new Reply(202, { 'X-Own': '1' }, '"own"'));
    expect(await run()).toMatchObject({ status: 202, headers: { 'X-Own': '1' }, body: 'own' });
    answerBy(() => undefined);
    const empty = await run();
    expect(empty).toMatchObject({ status: 201, body: undefined });
    expect(empty.headers).not.toHaveProperty('Content-Type');
  });

  it('without authentication has no caller, no limits and a response for all', async () => {
    const authenticator = { authenticate: refusing(new Error('asked')) } as never;
    const { run, called } = setUp({ auth: 'none', openOrigin: true }, { authenticator });
    const { status, headers } = await run();
    expect([status, headers['Access-Control-Allow-Origin'], headers['Cache-Control']]).toEqual([
      201,
      '*',
      undefined,
    ]);
    expect(called[0]?.[1]).toMatchObject({ caller: undefined, windows: undefined });
  });

  it.each([false, true])(
    'passes authentication, scopes and limits in this order (async: %s)',
    async (isAsync) => {
      const taken: string[] = [];
      const paidCalls = { take: async (userId: string) => void taken.push(userId) };
      let caller: object = { ...KEY, scopes: ['me:read'] };
      const authenticator = { authenticate: () => (isAsync ? Promise.resolve(caller) : caller) } as never;
      const { run, called } = setUp({ scopes: ['me:read'], paid: true }, { authenticator, paidCalls });
      const first = await run();
      expect([first.status, first.headers['X-RateLimit-Remaining-Minute']]).toEqual([201, '1']);
      expect(called[0]?.[1]).toMatchObject({ windows: [{ name: 'minute', remaining: 1 }, { name: 'day' }] });
      await run();
      expect(taken).toEqual(['ada', 'ada']);
      const third = await run();
      expect([third.status, third.headers['Retry-After'], taken.length]).toEqual([429, '60', 2]);
      caller = KEY;
      const fourth = await run();
      expect(fourth.status).toBe(403);
      expect(fourth.headers).not.toHaveProperty('X-RateLimit-Remaining-Minute');
      expect(called).toHaveLength(2);
      const free = setUp({}, { paidCalls });
      await free.run();
      expect(taken).toHaveLength(2);
    },
  );

  it('is refused by the limit of paid calls', async () => {
    const paidCalls = { take: () => Promise.reject(new ApiError(429, 'enough')) };
    const { run, called } = setUp({ paid: true }, { paidCalls });
    expect(await run()).toMatchObject({ status: 429, body: { error: 'enough' } });
    expect(called).toEqual([]);
    expect((await setUp({ paid: true }).run()).status).toBe(201);
  });

  it('may come by a router, or by a route that is mounted alone', async () => {
    const { all } = setUp();
    const operation = toOperation({ input: { params: z.object({ id: z.string().optional() }) } });
    const echo = async ({ params }: { params: unknown }) => params;
    const route = defineRoute(operation, all, echo as unknown as Handler<Operation>);
    expect(route.operation).toBe(operation);
    expect(await route.run(toRequest({}), { id: 'a' })).toMatchObject({ status: 201, body: '{"id":"a"}' });
    expect(await route.handle(toRequest({ params: { id: 'b' } }))).toMatchObject({ body: '{"id":"b"}' });
    expect(await route.handle(toRequest({}))).toMatchObject({ status: 201, body: '{}' });
  });

  it('is observed with its operation', async () => {
    const observed: unknown[] = [];
    const observer = {
      request: (what: { operation: Operation; request: ApiRequest }, work: () => Promise<never>) => {
        observed.push([what.operation.id, what.request.path]);
        return work();
      },
    };
    expect((await setUp({}, { observer: observer as never }).run()).status).toBe(201);
    expect(observed).toEqual([['op', '/x']]);
  });
});

describe('input', () => {
  const input = {
    params: z.object({ id: z.string().regex(/^\d+$/) }),
    query: z.object({ size: z.string().regex(/^\d+$/).optional() }),
    body: z.object({ name: z.string() }),
  };

  it('is validated: parameters, query and body', async () => {
    const { run, called } = setUp({ input, subject: 'Thing', subjectCode: 'THING_NOT_FOUND' });
    const good = { params: { id: '1' }, query: 'size=2', body: { name: 'a' } };
    expect((await run(good)).status).toBe(201);
    expect(called[0]?.[0]).toEqual({ params: { id: '1' }, query: { size: '2' }, body: { name: 'a' } });
    expect(await run({ ...good, params: { id: 'x' } })).toMatchObject({
      status: 404,
      body: { error: 'Thing not found' },
    });
    expect((await run({ ...good, query: 'size=x' })).status).toBe(422);
    expect((await run({ ...good, body: { name: 1 } })).status).toBe(422);
    expect((await run({ ...good, body: undefined, text: '{' })).status).toBe(400);
    expect(called).toHaveLength(1);
    const { run: other } = setUp({
      input: { params: input.params },
      family: 'application',
      subjectCode: 'NONE',
    });
    expect(await other({ params: {} })).toMatchObject({
      body: { error: { code: 'NONE', message: 'Resource not found' } },
    });
  });

  it('has the size of the operation, or that of a variant that matches', async () => {
    const text = JSON.stringify({ name: 'a'.repeat(20) });
    const kinds: string[] = [];
    const variant: BodyVariant = {
      limit: 100,
      matches: (value) => (value as { name?: string }).name?.startsWith('a') === true,
      schema: z.object({ name: z.string().transform((name) => name.length) }),
      handler: (async ({ body }: { body: { name: number } }) =>
        void kinds.push(`variant ${body.name}`)) as never,
    };
    const { run, called } = setUp({ input: { body: input.body }, bodyLimit: 20 }, {}, variant);
    expect((await run({ text })).status).toBe(201);
    expect((await run({ text: '{"name":"b"}' })).status).toBe(201);
    expect([kinds, called.length]).toEqual([['variant 20'], 1]);
    expect((await run({ text: text.replace('aaa', 'baa') })).status).toBe(413);
    expect((await setUp({ input: { body: input.body }, bodyLimit: 20 }).run({ text })).status).toBe(413);
  });

  it('may be a form where the operation takes one', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const send = (bodyType: string | undefined) => {
      const { all } = setUp();
      const operation = toOperation({ input: { body: input.body }, ...(bodyType && { bodyType }) });
      const route = defineRoute(operation, all, (async ({ body }: { body: unknown }) => body) as never);
      const request = toRequest({ text: 'name=a' });
      return route.handle({ ...request, headers: { ...request.headers, ...form } });
    };
    expect(await send('json-or-form')).toMatchObject({ status: 201, body: '{"name":"a"}' });
    expect(await send(undefined)).toMatchObject({ status: 400 });
  });

  it('has errors with the status of the operation', async () => {
    const bodyFault = { status: 400, applicationCode: 'BAD' };
    const { run } = setUp({ input: { body: input.body }, bodyFault, family: 'application' });
    const invalid = await run({ body: { name: 1 } });
    expect(invalid).toMatchObject({ status: 400, body: { error: { code: 'BAD' } } });
    const usual = await setUp({ input: { body: input.body }, family: 'application' }).run({
      body: { name: 1 },
    });
    expect(invalid.body.error.details).toEqual(usual.body.error.details);
    expect([usual.status, invalid.body.error.message]).toEqual([422, usual.body.error.message]);
    expect(await run({ text: '{' })).toMatchObject({
      status: 400,
      body: { error: { code: 'VALIDATION_ERROR' } },
    });
  });

  it('without a body is not read, except by the application', async () => {
    expect((await setUp().run({ text: '{' })).status).toBe(201);
    expect(
      (await setUp({ input: { body: input.body }, bodyType: 'multipart' }).run({ text: '{' })).status,
    ).toBe(201);
    const application = { family: 'application' };
    expect((await setUp({ ...application, bodyType: 'multipart' }).run({ text: '{' })).status).toBe(201);
    expect((await setUp(application).run({ text: '{' })).status).toBe(400);
    expect((await setUp(application).run({ text: '{}' })).status).toBe(201);
    expect((await setUp({ ...application, bodyLimit: 3 }).run({ text: '{  }' })).status).toBe(413);
    const bodyFault = { status: 400, applicationCode: 'BAD' };
    expect(await setUp({ ...application, bodyFault }).run({ text: '[]' })).toMatchObject({
      ...{ status: 400, body: { error: { code: 'BAD' } } },
    });
    for (const method of ['GET', 'DELETE']) {
      expect((await setUp({ ...application, method }).run()).status).toBe(201);
      expect(await setUp({ ...application, method }).run({ text: '{}' })).toMatchObject({
        ...{
          status: 400,
          body: { error: { code: 'VALIDATION_ERROR', message: `${method} takes no request body` } },
        },
      });
    }
  });
});

describe('an error', () => {
  it('of the service is reported and hidden', async () => {
    const { run, reported, answerBy } = setUp();
    const error = new Error('secret');
    answerBy(refusing(error));
    const failed = await run();
    expect(failed).toMatchObject({
      status: 500,
      body: { error: 'Internal server error', request_id: 'request-1' },
    });
    expect(failed.headers['Content-Type']).toBe('application/json; charset=utf-8');
    expect(reported).toEqual([{ operation: 'op', requestId: 'request-1', error }]);
    const completions = setUp({ family: 'completions' });
    completions.answerBy(refusing(error));
    expect(await completions.run()).toMatchObject({
      body: { message: 'Model response error: internal error' },
    });
  });

  it('of the caller is not reported', async () => {
    const { run, reported, answerBy } = setUp();
    answerBy(refusing(new ApiError(409, 'x', { headers: { 'Retry-After': '7' } })));
    const refused = await run();
    expect([refused.status, refused.headers['Retry-After'], reported]).toEqual([409, '7', []]);
    expect(refused.headers).not.toHaveProperty('WWW-Authenticate');
    const own = new ApiError(503, 'x');
    answerBy(refusing(own));
    await run();
    expect(reported).toMatchObject([{ error: own }]);
  });

  it('of a provider is reported with any status', async () => {
    const { run, reported, answerBy } = setUp();
    const cause = Object.assign(new Error('provider'), { name: 'ProviderError', kind: 'rejected' });
    answerBy(refusing(new ApiError(401, 'x', { code: 'provider_rejected', cause })));
    const refused = await run();
    expect(refused.headers).not.toHaveProperty('WWW-Authenticate');
    expect(reported).toMatchObject([{ error: cause }]);
  });

  it('of a missing credential asks for one', async () => {
    const authenticator = { authenticate: refusing(new ApiError(401, 'x')) } as never;
    const { headers } = await setUp({}, { authenticator }).run();
    expect(headers['WWW-Authenticate']).toBe('Bearer');
  });

  it('of the store asks to come back', async () => {
    const { run, reported, answerBy } = setUp({ family: 'application' });
    const error = new StorageUnavailable('away');
    answerBy(refusing(error));
    const refused = await run();
    expect(refused).toMatchObject({ status: 503, body: { error: { code: 'INTERNAL_ERROR' } } });
    expect(refused.headers['Retry-After']).toBe('5');
    expect(reported).toMatchObject([{ error }]);
  });

  it('has the format of the operation, and time of the service', async () => {
    const errorFormat = (error: ApiError, requestId: string) => ({
      ...{ status: error.status + 1, headers: { 'X-Own': requestId }, body: { own: error.message } },
    });
    const { run, answerBy } = setUp({ errorFormat });
    answerBy(refusing(new ApiError(404, 'x')));
    const refused = await run();
    expect([refused.status, refused.headers['X-Own'], refused.body]).toEqual([
      405,
      'request-1',
      { own: 'x' },
    ]);
    const { all } = setUp();
    const plain = refuse(toOperation({ family: 'application' }), all, {}, 'r', new ApiError(405, 'x'));
    expect(plain.status).toBe(405);
    expect(JSON.parse(String(plain.body))).toMatchObject({
      timestamp: new Date(all.clock.now()).toISOString(),
    });
  });
});
