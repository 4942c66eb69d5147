import type { Scope } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { sampleRoutes } from '../support/sample-routes.ts';
import { type Answer, createWire, type Wire } from '../support/wire.ts';

const SCOPES: readonly Scope[] = ['files:write', 'me:read', 'agents:read'];
const ID = '0123456789abcdef01234567';

const statusAndText = ({ status, body }: Answer): unknown[] => [status, (body as { error?: string }).error];

describe('order of checks', () => {
  it('reports the errors of an invalid request one step at a time', async () => {
    const wire = await createWire({ extra: sampleRoutes });
    const { app } = wire;
    const good = (await app.issue({ scopes: SCOPES })).key;
    const spent = (await app.issue({ scopes: SCOPES, requestsPerMinute: 1 })).key;
    const short = (await app.issue({ scopes: ['files:write'] })).key;
    await wire.send({ method: 'PATCH', path: `/api/v1/samples/${ID}`, headers: { 'x-api-key': spent } });

    const bad = {
      method: 'PUT',
      path: `/api/v1/samples/${ID}?mode=slow`,
      headers: { 'x-api-key': 'x' },
      body: '{',
    };
    const steps: [change: Partial<typeof bad>, status: number, message: string][] = [
      [{}, 405, 'PUT is not allowed here; use PATCH, DELETE'],
      [
        { method: 'PATCH', path: '/api/v1/samples/x?mode=slow' },
        401,
        'Authentication failed. Provide a valid API key or JWT token.',
      ],
      [{ headers: { 'x-api-key': short } }, 403, 'API key does not have the scopes this operation requires'],
      [{ headers: { 'x-api-key': spent } }, 429, 'Rate limit exceeded: 1 request per minute allowed'],
      [{ headers: { 'x-api-key': good } }, 404, 'Sample not found'],
      [
        { path: `/api/v1/samples/${ID}?mode=slow` },
        422,
        'mode: Invalid option: expected one of "fast"|"smart", got 4 characters of text',
      ],
      [{ path: `/api/v1/samples/${ID}?mode=fast` }, 400, 'the body is not valid JSON'],
      [{ body: '{"colour":1}' }, 422, 'Unrecognized key: "colour"'],
    ];
    let asked = bad;
    for (const [change, status, message] of steps) {
      asked = { ...asked, ...change };
      expect(statusAndText(await wire.send(asked))).toEqual([status, message]);
    }
    const answer = await wire.send({ ...asked, body: '{"name":"x"}' });
    expect(answer.body).toEqual({
      echo: { params: { id: ID }, query: { mode: 'fast' }, body: { name: 'x' } },
    });
  });
});

describe('bodies of operations that accept none', () => {
  async function asUser(wire: Wire): Promise<Record<string, string>> {
    return { Authorization: `Bearer ${await wire.app.token()}` };
  }

  it('are ignored by public operations', async () => {
    const wire = await createWire({ extra: sampleRoutes });
    const headers = await asUser(wire);
    for (const body of ['{', '[]', '{"__proto__":1}', 'x'.repeat(2 ** 20 + 1)]) {
      const answer = await wire.send({ method: 'DELETE', path: `/api/v1/samples/${ID}`, headers, body });
      expect(answer).toMatchObject({ status: 204, text: '' });
      expect(answer.headers).not.toHaveProperty('content-type');
    }
  });

  it('are rejected by application operations unless empty', async () => {
    const wire = await createWire({ extra: sampleRoutes });
    const asked = { method: 'DELETE', path: `/api/samples/${ID}`, headers: await asUser(wire) };
    for (const body of ['{}', '{', 'x']) {
      const answer = await wire.send({ ...asked, body });
      expect(answer).toMatchObject({
        status: 400,
        body: { error: { code: 'VALIDATION_ERROR', message: 'DELETE takes no request body' } },
      });
    }
    expect((await wire.send({ ...asked, body: '' })).status).toBe(200);
    expect((await wire.send(asked)).status).toBe(200);
  });
});

describe('issues in the application family', () => {
  it('names each invalid field of a query', async () => {
    const wire = await createWire({ extra: sampleRoutes });
    const headers = { Authorization: `Bearer ${await wire.app.token()}`, 'X-Request-ID': 'mine' };
    const answer = await wire.send({ method: 'GET', path: '/api/samples?page=x', headers });
    const message = 'Invalid string: must match pattern /^\\d+$/, got 1 characters of text';
    expect([answer.status, answer.body]).toEqual([
      422,
      {
        error: {
          code: 'VALIDATION_ERROR',
          message: `page: ${message}`,
          details: [{ path: 'page', message }],
        },
        timestamp: new Date(wire.app.clock.now()).toISOString(),
        request_id: 'mine',
      },
    ]);
  });

  it('names each invalid field of a body, with the status and code of the operation', async () => {
    const wire = await createWire({ extra: sampleRoutes });
    const headers = { Authorization: `Bearer ${await wire.app.token()}` };
    const answer = await wire.send({ method: 'POST', path: '/api/samples', headers, body: { name: 7 } });
    const message = 'expected string, got 7';
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { code: 'INVALID_AGENT_DATA', details: [{ path: 'name', message }] } },
    });
    const made = await wire.send({ method: 'POST', path: '/api/samples', headers, body: { name: 'x' } });
    expect([made.status, made.body]).toEqual([201, { echo: { body: { name: 'x' } } }]);
  });
});

describe('deprecated name of error bodies', () => {
  it('is present until the last millisecond of November 2026 and absent afterwards', async () => {
    const end = Date.UTC(2026, 11, 1);
    const wire = await createWire({ now: end - 1 });
    const ask = async (): Promise<unknown> => (await wire.send({ method: 'GET', path: '/api/v1/me' })).body;
    expect(await ask()).toHaveProperty('name');
    await wire.app.clock.advance(1);
    expect(await ask()).toEqual({
      error: 'Authentication failed. Provide a valid API key or JWT token.',
      request_id: expect.any(String),
    });
    const { key } = await wire.app.issue({ scopes: ['qa:ingest'] });
    const forbidden = await wire.send({ method: 'GET', path: '/api/v1/me', headers: { 'x-api-key': key } });
    expect(forbidden.body).toEqual({
      error: 'API key does not have the scopes this operation requires',
      request_id: expect.any(String),
      required_scopes: ['me:read'],
    });
  });

  it('is never present in the completions family', async () => {
    const wire = await createWire();
    const { body } = await wire.send({ method: 'POST', path: '/api/ai/v1/completions' });
    expect(body).toEqual({
      type: 'error',
      message: 'Authentication failed. Provide a valid API key or JWT token.',
      request_id: expect.any(String),
    });
  });
});
