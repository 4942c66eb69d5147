import cors from '@koa/cors';
import Router from '@koa/router';
import { toKoa } from '@questline/koa';
import { adapterSuite, type Host, type HostSetup, listen } from '@questline/testing';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import compress from 'koa-compress';
import mount from 'koa-mount';

adapterSuite({ name: 'Koa 3', create: createKoaHost });

async function createKoaHost(setup: HostSetup): Promise<Host> {
  const errors: unknown[] = [];
  const seen: number[] = [];
  const app = new Koa({ proxy: setup.trustProxy === true });
  // Koa reports every client disconnect of a stream here; it is not a failure.
  app.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') errors.push(error);
  });
  app.use(async (context, next) => {
    try {
      await next();
    } catch (error) {
      errors.push(error);
      context.status = 500;
      context.body = 'the host failed';
    }
  });
  if (setup.stamp === true) {
    app.use(async (context, next) => {
      await next();
      context.set('X-Host', 'yes');
      seen.push(context.status);
    });
  }
  if (setup.compression === true) app.use(compress({ threshold: 0 }));
  if (setup.cors === true) app.use(cors({ origin: 'https://app.example' }));
  if (setup.bodyParser !== undefined) app.use(getParser(setup.bodyParser));
  if (setup.mountedAfter !== true) mountApi(app, setup);

  const router = new Router();
  router.get('/host', (context) => {
    context.body = 'the host';
  });
  router.post('/host/echo', bodyParser(), (context) => {
    context.body = context.request.body;
  });
  router.get('/host/fails', () => {
    throw new Error('a failure of the host');
  });
  for (const { method, path } of setup.ownRoutes ?? []) {
    router[method === 'GET' ? 'get' : 'post'](path, (context) => {
      context.body = `the host: ${method} ${path}`;
    });
  }
  app.use(router.routes());
  if (setup.mountedAfter === true) mountApi(app, setup);
  app.use((context) => {
    context.status = 404;
    context.body = 'the host knows no such path';
  });
  return listen(app.callback(), { errors, seen });
}

function mountApi(app: Koa, { api, asRoute, mountPath }: HostSetup): void {
  if (asRoute === true) {
    app.use(new Router().post('/ask/:id', toKoa(api)).routes());
  } else {
    app.use(mountPath === undefined ? toKoa(api) : mount(mountPath, toKoa(api)));
  }
}

function getParser(kind: 'json' | 'raw' | 'text'): Koa.Middleware {
  if (kind === 'json') return bodyParser();
  if (kind === 'text') return bodyParser({ enableTypes: ['text'] });
  // Koa has no common parser for bytes; applications write this one.
  return async (context, next) => {
    const chunks: Buffer[] = [];
    for await (const chunk of context.req) chunks.push(chunk);
    context.request.body = Buffer.concat(chunks);
    await next();
  };
}
