import type { ApiRequest, Mountable } from '@questline/core';
import { toExpress } from '@questline/express';
import express, { type RequestHandler } from 'express';
import express4 from 'express4';
import request from 'supertest';
import { describe, expect, it } from 'vitest';

const mirror: Mountable = {
  async handle({ path, mountPath, params }: ApiRequest) {
    const body = JSON.stringify({ path, mountPath, params });
    return { status: 200, headers: { 'Content-Type': 'application/json' }, body };
  },
};

describe('mounted into an Express application', () => {
  it('resolves its base path below nested routers and parameters', async () => {
    const app = express();
    const inner = express.Router().use('/ai', toExpress(mirror));
    app.use('/tenants/:tenant', inner);
    const answer = await request(app).get('/tenants/t%201/ai/x/%C3%A9');
    expect(answer.body).toEqual({ path: '/x/%C3%A9', mountPath: '/tenants/t%201/ai' });
  });

  it('can be mounted at several paths of one application', async () => {
    const app = express().use(['/a', '/b'], toExpress(mirror));
    for (const mountPath of ['/a', '/b']) {
      expect((await request(app).get(`${mountPath}/x`)).body).toEqual({ path: '/x', mountPath });
    }
  });

  it.each([
    ['a parameter', '/ai/:tenant', '/ai/t1'],
    ['a regular expression', /^\/ai-(\d+)/, '/ai-12'],
    ['a regular expression that matches nothing more', /^\/ai(-\d+)?(?=\/)/, '/ai'],
  ] as const)('resolves its base path at %s', async (_, path, mountPath) => {
    for (const create of [express, express4 as unknown as typeof express]) {
      const app = create().use(path as string, toExpress(mirror));
      const answer = await request(app).get(`${mountPath}/x`);
      expect(answer.body).toEqual({ path: '/x', mountPath });
    }
  });

  it.each(['/one', '/two/parts', '/%C3%A9'])(
    'resolves its base path below a wildcard of Express 4 that matches %s',
    async (rest) => {
      const app = express4().use('/ai/*', toExpress(mirror));
      expect((await request(app).get(`/ai${rest}`)).body).toEqual({ path: rest, mountPath: '/ai' });
    },
  );

  it('gives precedence to earlier routes of the host', async () => {
    const app = express();
    app.get('/own', (_request, response) => {
      response.send('the host');
    });
    app.use(toExpress(mirror));
    expect((await request(app).get('/own')).text).toBe('the host');
    expect((await request(app).get('/other')).body.path).toBe('/other');
  });

  it('receives the parameters when the host calls a route from its own handler', async () => {
    const app = express();
    const route = toExpress(mirror);
    app.post('/ask/:id', (incoming, outgoing, next) => {
      if (incoming.params.id === '1') route(incoming, outgoing, next);
      else next();
    });
    expect((await request(app).post('/ask/1')).body.params).toEqual({ id: '1' });
    expect((await request(app).post('/ask/2')).status).toBe(404);
  });

  it('leaves out an optional parameter of Express 4 that the path does not have', async () => {
    const app = express4().post('/ask/:id?', toExpress(mirror));
    expect((await request(app).post('/ask')).body).toEqual({ path: '/ask', mountPath: '', params: {} });
    expect((await request(app).post('/ask/7')).body.params).toEqual({ id: '7' });
  });

  it('resolves the base path of a single route below a router', async () => {
    const router = express.Router().post('/ask/:id', toExpress(mirror));
    const app = express().use('/v1', router);
    const answer = await request(app).post('/v1/ask/7');
    expect(answer.body).toEqual({ path: '/ask/7', mountPath: '/v1', params: { id: '7' } });
  });

  it('receives a wildcard of Express 5 as one text', async () => {
    const app = express();
    app.post('/ask/*rest', toExpress(mirror));
    expect((await request(app).post('/ask/a%20b/c')).body.params).toEqual({ rest: 'a b/c' });
  });

  it('sends nothing when the host has already answered, and returns its stream', async () => {
    let returned = 0;
    let answered: () => void = () => undefined;
    const hostAnswered = new Promise<void>((resolve) => {
      answered = resolve;
    });
    const late: Mountable = {
      async handle() {
        await hostAnswered;
        const body: AsyncIterableIterator<string> = {
          next: async () => ({ done: true, value: undefined }),
          async return() {
            returned += 1;
            return { done: true, value: undefined };
          },
          [Symbol.asyncIterator]: () => body,
        };
        return { status: 200, headers: {}, body };
      },
    };
    const impatient: RequestHandler = (_request, response, next) => {
      response.on('finish', answered);
      next();
      response.status(503).send('too slow');
    };
    const app = express().use(impatient, toExpress(late));
    const answer = await request(app).get('/x');
    expect([answer.status, answer.text]).toEqual([503, 'too slow']);
    expect(returned).toBe(1);
  });
});
