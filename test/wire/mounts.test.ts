import { describe, expect, it } from 'vitest';
import { askedIn, expectCase, worldOptionsOf } from '../support/cases.ts';
import { MOUNTS } from '../support/mounts.ts';
import { type Answer, type Asked, createWire, toAnswer, toInit } from '../support/wire.ts';
import { createWorld, type World } from '../support/world.ts';
import { CASES } from './cases/index.ts';

const { api } = await createWorld();
const OPERATIONS = api.routes.map(({ operation }) => operation);
const rows = OPERATIONS.flatMap((operation) =>
  (CASES[operation.id] ?? [])
    .filter(({ everywhere }) => everywhere === true)
    .map((one) => [operation.id, one.title, operation, one] as const),
);

const COMPLETIONS = '/api/ai/v1/completions';
const big = (size: number): Uint8Array => Buffer.alloc(size, ' ');
const typed = { 'Content-Type': 'application/json' };

/** Refusals of the line in front of every handler: a body read or not, a limiter asked or not. */
const refusals: readonly (readonly [title: string, asked: Asked])[] = [
  ['an undeclared method', { method: 'PUT', path: '/api/v1/me', body: '{"a":1}' }],
  ['an undeclared method without a body', { method: 'DELETE', path: COMPLETIONS }],
  ['no credential', { method: 'GET', path: '/api/v1/credits' }],
  ['no credential, with a body', { method: 'POST', path: COMPLETIONS, body: { model: 'x' } }],
  ['a bad limit', { method: 'GET', path: '/api/v1/models?limit=0', headers: { 'x-api-key': 'KEY' } }],
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

async function askThrough(port: number, world: World, asked: Asked): Promise<Answer> {
  const headers: Record<string, string> = { 'X-Request-ID': 'wire-1', ...asked.headers };
  if (headers['x-api-key'] === 'KEY') headers['x-api-key'] = world.key;
  const answer = await toAnswer(
    await fetch(`http://127.0.0.1:${port}${asked.path}`, toInit({ ...asked, headers })),
  );
  // What Express says of itself.
  const { 'x-powered-by': _, ...ours } = answer.headers;
  return { ...answer, headers: ours };
}

describe.each(MOUNTS)('on $name', ({ mount }) => {
  it.each(rows)('%s %s', async (_id, _title, operation, one) => {
    const world = await createWorld(await worldOptionsOf(operation, one));
    const host = await mount(world.api);
    try {
      const answer = await askThrough(host.port, world, await askedIn(operation, one, world));
      expectCase(operation, one, world, answer);
    } finally {
      await host.close();
    }
  });

  it.each(refusals)('refuses %s as the fetch bridge does', async (_title, asked) => {
    const world = await createWorld({ key: { scopes: ['ai:chat'] } });
    const bridge = await createWire({ key: { scopes: ['ai:chat'] } });
    const host = await mount(world.api);
    try {
      const headers = {
        ...asked.headers,
        ...('x-api-key' in (asked.headers ?? {}) && { 'x-api-key': bridge.world.key }),
      };
      const expected = await bridge.send({ ...asked, headers: { 'X-Request-ID': 'wire-1', ...headers } });
      expect(await askThrough(host.port, world, asked)).toEqual(expected);
      // The connection is still good after it.
      expect((await askThrough(host.port, world, { method: 'GET', path: '/api/ping' })).body).toEqual({
        message: 'pong',
      });
    } finally {
      await host.close();
    }
  });
});
