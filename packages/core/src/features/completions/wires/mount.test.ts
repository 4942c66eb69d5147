import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { ApiRequest } from '../../../contract/message.ts';
import { defineOperation, type ErrorFormat } from '../../../contract/operation.ts';
import { createMemoryLimiter } from '../../../memory/limiter.ts';
import { NAME_SUNSET } from '../../../operations/families.ts';
import { DEFAULT_RATE_LIMITS } from '../../../operations/rates.ts';
import { defineRoute } from '../../../operations/route.ts';
import { createWire, type WireServices } from './mount.ts';

const errorFormat: ErrorFormat = ({ status, message }, requestId) => ({
  status,
  body: { failed: message, requestId },
});

const toOperation = (id: string, path: `/${string}`, counterpart?: string) =>
  defineOperation({
    ...{ id, method: 'GET', path, tag: 'Things', summary: 'Get it', auth: 'none', scopes: [] },
    ...{ rate: { key: 'unlimited', user: 'unlimited' }, owner: 'none', family: 'public', input: {} },
    output: { 200: { description: 'It.', schema: z.object({ id: z.string() }) } },
    ...{ errorFormat, ...(counterpart !== undefined && { counterpart }) },
  } as const);

function setUp(basePath?: `/${string}`, hasOperation?: (id: string) => boolean) {
  const services = {
    ...{ clock: createFakeClock(NAME_SUNSET - 10), ids: createFakeIds(), limiter: createMemoryLimiter() },
    ...{ limits: DEFAULT_RATE_LIMITS, authenticator: {}, onError: () => undefined },
    ...(hasOperation && { hasOperation }),
  } as unknown as WireServices;
  const wire = createWire(services, {
    routes: [
      defineRoute(toOperation('own', '/v1/own'), services, async () => ({ id: 'own' })),
      defineRoute(toOperation('thing', '/v1/thing', 'getThing'), services, async () => ({ id: 'thing' })),
    ],
    basePath,
    errorFormat,
    complete: (response, now) => ({ ...response, headers: { ...response.headers, At: String(now) } }),
  });
  const ask = async (path: string, { method = 'GET', mountPath = '' } = {}) => {
    const answer = await wire.handle({
      ...{ method, path, mountPath, query: '', headers: { 'x-request-id': 'r-1' }, protocol: 'https' },
      ...{ body: { bytes: async () => new Uint8Array() }, signal: new AbortController().signal },
    } as unknown as ApiRequest);
    return answer && { ...answer, body: JSON.parse(String(answer.body)) as unknown };
  };
  return { wire, ask };
}

const UNKNOWN = {
  status: 404,
  headers: {
    'X-Request-ID': 'r-1',
    'Content-Type': 'application/json; charset=utf-8',
    At: String(NAME_SUNSET - 10),
  },
  body: { failed: 'Unknown path', requestId: 'r-1' },
};

describe('a wire of a vendor', () => {
  it('answers its routes below its base path, and leaves all other paths to the host', async () => {
    const { ask } = setUp('/openai');
    expect(await ask('/openai/v1/own')).toMatchObject({ status: 200, body: { id: 'own' } });
    for (const path of ['/v1/own', '/openaix/v1/own', '/']) expect(await ask(path)).toBeUndefined();
  });

  it('answers an unknown path below its base path in its format', async () => {
    const { ask } = setUp('/openai');
    for (const path of ['/openai/v1/other', '/openai/other']) expect(await ask(path)).toEqual(UNKNOWN);
  });

  it('answers unknown paths below /v1/ only where it is mounted at the root', async () => {
    const { ask } = setUp();
    expect(await ask('/v1/own')).toMatchObject({ status: 200 });
    expect(await ask('/v1/other')).toEqual(UNKNOWN);
    expect(await ask('/other')).toBeUndefined();
    expect(await ask('/other', { mountPath: '/ai' })).toEqual(UNKNOWN);
  });

  it('names the methods of a path that does not have the one of the request', async () => {
    const { ask } = setUp();
    expect(await ask('/v1/own', { method: 'PUT' })).toMatchObject({
      status: 405,
      headers: { Allow: 'GET, HEAD', 'X-Request-ID': 'r-1', At: UNKNOWN.headers.At },
      body: { failed: 'PUT is not allowed here; use GET, HEAD', requestId: 'r-1' },
    });
  });

  it('leaves out the routes whose counterpart the host does not have', async () => {
    const { wire, ask } = setUp(undefined, (id) => id !== 'getThing');
    expect(wire.routes.map(({ operation }) => operation.id)).toEqual(['own']);
    expect(await ask('/v1/thing')).toEqual(UNKNOWN);
    expect(setUp(undefined, () => true).wire.routes).toHaveLength(2);
    expect(setUp().wire.routes).toHaveLength(2);
  });
});
