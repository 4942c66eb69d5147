import Router from '@koa/router';
import type { ApiRequest, Mountable } from '@questline/core';
import { toKoa } from '@questline/koa';
import Koa from 'koa';
import mount from 'koa-mount';
import request from 'supertest';
import { describe, expect, it } from 'vitest';

const mirror: Mountable = {
  async handle({ path, query, mountPath, params }: ApiRequest) {
    const body = JSON.stringify({ path, query, mountPath, params });
    return { status: 200, headers: { 'Content-Type': 'application/json' }, body };
  },
};

describe('mounted into a Koa application', () => {
  it('resolves its base path below nested mounts', async () => {
    const inner = new Koa().use(mount('/ai', toKoa(mirror)));
    const app = new Koa().use(mount('/v1', inner));
    const answer = await request(app.callback()).get('/v1/ai/x/%C3%A9?a=%20');
    expect(answer.body).toEqual({ path: '/x/%C3%A9', query: 'a=%20', mountPath: '/v1/ai' });
    const top = await request(app.callback()).get('/v1/ai?a=1');
    expect(top.body).toEqual({ path: '/', query: 'a=1', mountPath: '/v1/ai' });
  });

  it('gives precedence to earlier routes of the host', async () => {
    const router = new Router().get('/own', (context) => {
      context.body = 'the host';
    });
    const app = new Koa().use(router.routes()).use(toKoa(mirror));
    expect((await request(app.callback()).get('/own')).text).toBe('the host');
    expect((await request(app.callback()).get('/other')).body).toMatchObject({ path: '/other' });
  });

  it('receives the path, the query and the parameters of a single route', async () => {
    const router = new Router({ prefix: '/v1' }).post('/ask/:id', toKoa(mirror));
    const answer = await request(new Koa().use(router.routes()).callback()).post('/v1/ask/7?a=1');
    expect(answer.body).toEqual({ path: '/v1/ask/7', query: 'a=1', mountPath: '', params: { id: '7' } });
  });

  it('is at the root for a path that the host has replaced', async () => {
    const app = new Koa()
      .use((context, next) => {
        context.url = '/in';
        return next();
      })
      .use(toKoa(mirror));
    expect((await request(app.callback()).get('/outer')).body).toEqual({
      path: '/in',
      query: '',
      mountPath: '',
    });
  });

  it('lets earlier middleware of the host replace a response', async () => {
    const app = new Koa()
      .use(async (context, next) => {
        await next();
        if (context.status === 200) context.body = '"replaced"';
      })
      .use(toKoa(mirror));
    expect((await request(app.callback()).get('/x')).body).toBe('replaced');
  });

  it('writes nothing where the host has answered', async () => {
    const app = new Koa()
      .use((context, next) => {
        context.res.writeHead(202).write('the host');
        return next();
      })
      .use(toKoa({ handle: async () => ({ status: 200, headers: {}, body: 'late' }) }));
    const { status, text } = await request(app.callback()).get('/x');
    expect([status, text]).toEqual([202, 'the host']);
  });

  it('answers HEAD without a length where there is no body', async () => {
    const app = new Koa().use(toKoa({ handle: async () => ({ status: 200, headers: {}, body: undefined }) }));
    const { status, headers } = await request(app.callback()).head('/x');
    expect([status, headers['content-length']]).toEqual([200, undefined]);
  });

  it('cancels a stream once when middleware of the host replaces it', async () => {
    let returned = 0;
    const body: AsyncIterableIterator<string> = {
      next: () => new Promise(() => undefined),
      async return() {
        returned += 1;
        return { done: true, value: undefined };
      },
      [Symbol.asyncIterator]: () => body,
    };
    const app = new Koa()
      .use(async (context, next) => {
        await next();
        context.body = 'replaced';
      })
      .use(toKoa({ handle: async () => ({ status: 200, headers: {}, body }) }));
    expect((await request(app.callback()).get('/x')).text).toBe('replaced');
    expect(returned).toBe(1);
  });
});
