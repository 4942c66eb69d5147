import type { ApiRequest, ApiResponse, Route } from '@questline/core';
import type { Call } from '@questline/core/internal';
import { StorageUnavailable } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { readFileText } from '../src/operations.ts';
import { createRunner, OperationRefused, toUnavailable } from '../src/runner.ts';

interface Asked {
  readonly request: ApiRequest;
  readonly params: Readonly<Record<string, string>>;
}

/** A runner of `readFileText`, whose route answers with `answers` in their order. */
function create(headers: Readonly<Record<string, string>> = {}, ...answers: readonly Partial<ApiResponse>[]) {
  const left = [...answers];
  const asked: Asked[] = [];
  const route: Route = {
    operation: readFileText,
    handle: async () => undefined,
    async run(request, params) {
      asked.push({ request, params });
      return { status: 200, headers: {}, body: undefined, ...left.shift() };
    },
  };
  const { signal } = new AbortController();
  const request: ApiRequest = {
    method: 'POST',
    path: '/',
    mountPath: '/mcp',
    query: 'unread=1',
    headers,
    body: { bytes: async () => new Uint8Array([1]), stream: async function* () {} },
    signal,
    remoteAddress: '10.0.0.7',
    protocol: 'https',
  };
  const caller: Call['caller'] = { kind: 'token', userId: 'u' } as Call['caller'];
  const call: Call = { id: 'c', requestId: 'r-1', caller, signal, mountPath: '/mcp', request };
  return { runner: createRunner(new Map([['readFileText', route]]), call, '/ai'), asked, signal };
}

describe('an operation that a message runs', () => {
  it('gets the request of the sender with its own path, query and body', async () => {
    const { runner, asked, signal } = create({ authorization: 'Bearer x', cookie: 'a=b' });
    await runner.run('readFileText', {
      params: { id: 'a/b' },
      query: { limit: '10', order: 'desc' },
      body: { a: 1 },
    });
    const [{ request, params } = expect.fail()] = asked;
    const { body, ...rest } = request;
    expect(params).toEqual({ id: 'a/b' });
    expect(rest).toEqual({
      method: 'GET',
      path: '/api/v1/files/a%2Fb',
      mountPath: '/ai',
      query: 'limit=10&order=desc',
      headers: {
        authorization: 'Bearer x',
        cookie: 'a=b',
        'x-request-id': 'r-1',
        'content-type': 'application/json',
      },
      signal,
      remoteAddress: '10.0.0.7',
      protocol: 'https',
    });
    expect(rest.signal).toBe(signal);
    expect(body.parsed).toEqual({ a: 1 });
    expect(await body.bytes(10)).toEqual(new Uint8Array());
    for await (const _ of body.stream()) expect.unreachable();
  });

  it('gets no body, query and parameter without input', async () => {
    const { runner, asked } = create();
    await runner.run('readFileText');
    expect(asked[0]?.params).toEqual({});
    expect(asked[0]?.request).toMatchObject({
      path: '/api/v1/files/',
      query: '',
      headers: { 'x-request-id': 'r-1' },
      body: { parsed: undefined },
    });
    expect(asked[0]?.request.headers).toEqual({ 'x-request-id': 'r-1' });
  });

  it('does not get the headers that describe the message', async () => {
    const own = [
      'accept',
      'accept-encoding',
      'content-encoding',
      'content-length',
      'content-type',
      'expect',
      'idempotency-key',
      'range',
      'transfer-encoding',
    ];
    const { runner, asked } = create(Object.fromEntries(own.map((name) => [name, 'x'])));
    await runner.run('readFileText');
    expect(asked[0]?.request.headers).toEqual({ 'x-request-id': 'r-1' });
  });

  it('gets the Idempotency-Key only if that is meant for it', async () => {
    const { runner, asked } = create({ 'idempotency-key': 'k' });
    expect(runner.isRepeatable).toBe(true);
    await runner.run('readFileText', { isRepeatable: true });
    await runner.run('readFileText', { isRepeatable: false });
    await runner.run('readFileText');
    expect(asked.map(({ request }) => request.headers['idempotency-key'])).toEqual([
      'k',
      undefined,
      undefined,
    ]);
    const keyless = create();
    expect(keyless.runner.isRepeatable).toBe(false);
    await keyless.runner.run('readFileText', { isRepeatable: true });
    expect(keyless.asked[0]?.request.headers).toEqual({ 'x-request-id': 'r-1' });
  });

  it('returns its body, and the limits after it', async () => {
    const { runner } = create(
      {},
      { body: '{"a":1}', headers: { 'X-RateLimit-Left': '3', 'x-ratelimit-reset': '7', ETag: '"x"' } },
      { body: '' },
      { body: new Uint8Array([1]) },
    );
    expect([runner.hasRun(), runner.headers()]).toEqual([false, {}]);
    expect(await runner.run('readFileText')).toEqual({ a: 1 });
    expect(runner.hasRun()).toBe(true);
    expect(runner.headers()).toEqual({ 'X-RateLimit-Left': '3', 'x-ratelimit-reset': '7' });
    expect(await runner.run('readFileText')).toEqual({});
    expect(runner.headers()).toEqual({});
    expect(await runner.run('readFileText')).toEqual({});
  });

  it('refuses with its status, message and the time until a retry', async () => {
    const { runner } = create(
      {},
      { status: 429, body: '{"error":"slow down"}', headers: { 'Retry-After': '7' } },
      { status: 400, body: '{"error":{"message":"x"}}' },
      { status: 500 },
      { status: 399, body: '{"error":"none"}' },
    );
    const refusal = async () => {
      const error = await runner.run('readFileText').catch((reason: unknown) => reason);
      if (!(error instanceof OperationRefused)) return error;
      return [error.status, error.message, error.retryAfter];
    };
    expect(await refusal()).toEqual([429, 'slow down', '7']);
    expect(await refusal()).toEqual([400, 'The operation failed', undefined]);
    expect(await refusal()).toEqual([500, 'The operation failed', undefined]);
    expect(await refusal()).toEqual({ error: 'none' });
  });

  it('is refused with 404 if the server does not offer it', async () => {
    const { runner } = create();
    await expect(runner.run('deleteFile')).rejects.toMatchObject({
      status: 404,
      message: 'This server does not offer it',
      retryAfter: undefined,
    });
    expect(runner.hasRun()).toBe(false);
  });
});

describe('storage that is away', () => {
  it('is a refusal of work outside of operations', () => {
    expect(toUnavailable(new StorageUnavailable('secret'))).toMatchObject({
      status: 503,
      message: 'The service is temporarily unavailable. Try again shortly.',
      retryAfter: '5',
    });
    expect(toUnavailable(new Error('other'))).toBeUndefined();
  });
});
