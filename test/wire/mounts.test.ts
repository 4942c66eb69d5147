import { describe, expect, it } from 'vitest';
import { askedIn, expectCase, toTestAppOptions } from '../support/cases.ts';
import { MOUNTS } from '../support/mounts.ts';
import { createTestApp, type TestApp } from '../support/test-app.ts';
import { type Answer, type Asked, createWire, toAnswer, toInit } from '../support/wire.ts';
import { CASES } from './cases/index.ts';

const { api } = await createTestApp();
const OPERATIONS = api.routes.map(({ operation }) => operation);
const rows = OPERATIONS.flatMap((operation) =>
  (CASES[operation.id] ?? [])
    .filter(({ everywhere }) => everywhere === true)
    .map((one) => [operation.id, one.title, operation, one] as const),
);

const COMPLETIONS = '/api/ai/v1/completions';
const big = (size: number): Uint8Array => Buffer.alloc(size, ' ');
const typed = { 'Content-Type': 'application/json' };

/**
 * Requests that are rejected before the handler: with and without reading the body, before and after rate
 * limiting.
 */
const refusals: readonly (readonly [title: string, asked: Asked])[] = [
  ['an undeclared method', { method: 'PUT', path: '/api/v1/me', body: '{"a":1}' }],
  ['an undeclared method without a body', { method: 'DELETE', path: COMPLETIONS }],
  ['no credential', { method: 'GET', path: '/api/v1/credits' }],
  ['no credential, with a body', { method: 'POST', path: COMPLETIONS, body: { model: 'x' } }],
  ['an invalid limit', { method: 'GET', path: '/api/v1/models?limit=0', headers: { 'x-api-key': 'KEY' } }],
  ['broken JSON', { method: 'POST', path: COMPLETIONS, headers: { 'x-api-key': 'KEY' }, body: '{"model"' }],
  ['an array', { method: 'POST', path: COMPLETIONS, headers: { 'x-api-key': 'KEY' }, body: '[]' }],
  ['no body', { method: 'POST', path: COMPLETIONS, headers: { 'x-api-key': 'KEY' } }],
  [
    'a body of 25 MiB and a byte',
    {
      method: 'POST',
      path: COMPLETIONS,
      headers: { ...typed, 'x-api-key': 'KEY' },
      body: big(25 * 2 ** 20 + 1),
    },
  ],
];

async function askThrough(port: number, app: TestApp, asked: Asked): Promise<Answer> {
  const headers: Record<string, string> = { 'X-Request-ID': 'wire-1', ...asked.headers };
  if (headers['x-api-key'] === 'KEY') headers['x-api-key'] = app.key;
  const answer = await toAnswer(
    await fetch(`http://127.0.0.1:${port}${asked.path}`, toInit({ ...asked, headers })),
  );
  // Express adds this header.
  const { 'x-powered-by': _, ...ours } = answer.headers;
  return { ...answer, headers: ours };
}

describe.each(MOUNTS)('on $name', ({ mount }) => {
  it.each(rows)('%s %s', async (_id, _title, operation, one) => {
    const app = await createTestApp(await toTestAppOptions(operation, one));
    const host = await mount(app.api);
    try {
      const answer = await askThrough(host.port, app, await askedIn(operation, one, app));
      expectCase(operation, one, app, answer);
    } finally {
      await host.close();
    }
  });

  it.each(refusals)('rejects %s as the fetch bridge does', async (_title, asked) => {
    const app = await createTestApp({ key: { scopes: ['ai:chat'] } });
    const bridge = await createWire({ key: { scopes: ['ai:chat'] } });
    const host = await mount(app.api);
    try {
      const headers = {
        ...asked.headers,
        ...('x-api-key' in (asked.headers ?? {}) && { 'x-api-key': bridge.app.key }),
      };
      const expected = await bridge.send({ ...asked, headers: { 'X-Request-ID': 'wire-1', ...headers } });
      expect(await askThrough(host.port, app, asked)).toEqual(expected);
      // The connection is still usable.
      expect((await askThrough(host.port, app, { method: 'GET', path: '/api/ping' })).body).toEqual({
        message: 'pong',
      });
    } finally {
      await host.close();
    }
  });
});
