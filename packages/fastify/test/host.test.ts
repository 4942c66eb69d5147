import type { ApiRequest, Mountable } from '@questline/core';
import { toFastify } from '@questline/fastify';
import Fastify, { type FastifyInstance } from 'fastify';
import { describe, expect, it } from 'vitest';

/** Handles every path that ends in `/ours`. */
const api: Mountable = {
  async handle({ path, mountPath }: ApiRequest) {
    if (!path.endsWith('/ours')) return undefined;
    const body = JSON.stringify({ path, mountPath });
    return { status: 200, headers: { 'Content-Type': 'application/json' }, body };
  },
};

const all: Mountable = {
  handle: async () => ({ status: 200, headers: { 'Content-Type': 'text/plain' }, body: 'the api' }),
};

async function ask(app: FastifyInstance, url: string, method: 'GET' | 'POST' = 'GET', payload?: object) {
  const { statusCode, body } = await app.inject({ method, url, ...(payload && { payload }) });
  return [statusCode, body] as const;
}

describe('mounted into a Fastify application', () => {
  it('registers no route that could clash with routes of the host', async () => {
    const app = Fastify();
    const before = app.printRoutes();
    await app.register(toFastify(api));
    expect(app.printRoutes()).toBe(before);
  });

  it('gives precedence to a route of the host', async () => {
    const app = Fastify();
    await app.register(toFastify(all));
    app.get('/own', async () => 'the host');
    app.get('/users/:id', async () => 'the host');
    app.get('/files/*', async () => 'the host');
    for (const path of ['/own', '/users/7', '/files/a/b']) {
      expect(await ask(app, path)).toEqual([200, 'the host']);
    }
    expect(await ask(app, '/other')).toEqual([200, 'the api']);
  });

  it('runs before a catch-all route of the host, which receives all other requests', async () => {
    const app = Fastify();
    app.get('/*', async () => 'the single page');
    await app.register(toFastify(api));
    expect(await ask(app, '/api/ours')).toEqual([200, '{"path":"/api/ours","mountPath":""}']);
    expect(await ask(app, '/api/theirs')).toEqual([200, 'the single page']);
  });

  it('can be registered below nested prefixes and passes unknown paths to the host', async () => {
    const app = Fastify();
    app.setNotFoundHandler(async (_request, reply) => reply.code(404).send('the host'));
    await app.register(
      (child, _options, done) => {
        child.get('/own', async () => 'the child');
        child.register(toFastify(api), { prefix: '/ai' });
        done();
      },
      { prefix: '/v1' },
    );
    expect(await ask(app, '/v1/ai/x/ours')).toEqual([200, '{"path":"/x/ours","mountPath":"/v1/ai"}']);
    expect(await ask(app, '/v1/own')).toEqual([200, 'the child']);
    for (const path of ['/v1/ai', '/v1/ai/x', '/v1/x/ours', '/ai/ours']) {
      expect(await ask(app, path)).toEqual([404, 'the host']);
    }
    expect(await ask(app, '/v1/ai/x', 'POST', { a: 1 })).toEqual([404, 'the host']);
  });

  it('can be registered in a child without its own prefix', async () => {
    const app = Fastify();
    await app.register(
      (child, _options, done) => {
        child.register(toFastify(api));
        done();
      },
      { prefix: '/v1' },
    );
    expect(await ask(app, '/v1/ours')).toEqual([200, '{"path":"/ours","mountPath":"/v1"}']);
    expect((await ask(app, '/v1/theirs'))[0]).toBe(404);
  });

  it('runs after every onRequest hook of the host, whenever it was added', async () => {
    const app = Fastify();
    await app.register(toFastify(all));
    app.addHook('onRequest', async (request, reply) => {
      if (request.headers.authorization === undefined) return reply.code(401).send('not here');
    });
    expect(await ask(app, '/x')).toEqual([401, 'not here']);
  });

  it('keeps the parsers and body limit of the host', async () => {
    const app = Fastify({ bodyLimit: 100 });
    await app.register(toFastify(api));
    await app.register(toFastify(all), { url: '/ask/:id' });
    app.post('/own', async (request) => request.body);
    expect(await ask(app, '/own', 'POST', { a: 1 })).toEqual([200, '{"a":1}']);
    expect((await ask(app, '/own', 'POST', { a: 'x'.repeat(200) }))[0]).toBe(413);
    expect((await ask(app, '/ask/1', 'POST', { a: 'x'.repeat(200) }))[0]).toBe(200);
    const xml = await app.inject({
      method: 'POST',
      url: '/own',
      headers: { 'content-type': 'text/xml' },
      payload: '<a/>',
    });
    expect(xml.statusCode).toBe(415);
  });

  it('runs the hooks of the host before a single route', async () => {
    const app = Fastify();
    await app.register((guarded, _options, done) => {
      guarded.addHook('preHandler', async (request, reply) => {
        if ((request.params as { id: string }).id !== '1') return reply.code(403).send('not yours');
      });
      guarded.register(toFastify(all), { method: ['POST', 'PUT'], url: '/ask/:id' });
      done();
    });
    expect(await ask(app, '/ask/1', 'POST', {})).toEqual([200, 'the api']);
    expect(await ask(app, '/ask/2', 'POST', {})).toEqual([403, 'not yours']);
    expect((await ask(app, '/ask/1'))[0]).toBe(404);
  });

  it.each(['POST', 'PUT'] as const)(
    'gives a single route the place and the parameters of a %s',
    async (method) => {
      const app = Fastify();
      const mirror: Mountable = {
        handle: async ({ path, mountPath, query, params }: ApiRequest) => ({
          status: 200,
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ path, mountPath, query, params }),
        }),
      };
      await app.register(
        (child, _options, done) => {
          child.register(toFastify(mirror), { method: ['POST', 'PUT'], url: '/ask/:id' });
          done();
        },
        { prefix: '/v1' },
      );
      const { body } = await app.inject({ method, url: '/v1/ask/7?a=1', payload: {} });
      expect(JSON.parse(body)).toEqual({
        path: '/ask/7',
        mountPath: '/v1',
        query: 'a=1',
        params: { id: '7' },
      });
    },
  );

  it('passes a request that a single route declines to the host', async () => {
    const app = Fastify();
    app.setNotFoundHandler(async (_request, reply) => reply.code(404).send('the host'));
    await app.register(toFastify({ handle: async () => undefined }), { url: '/ask' });
    expect(await ask(app, '/ask', 'POST', { a: 1 })).toEqual([404, 'the host']);
  });
});
