import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { getRequestListener } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import { toFetchHandler, toNodeListener } from '@questline/core';
import { adapterSuite, type Host, type HostSetup, listen } from '@questline/testing';
import bodyParser from 'body-parser';
import compression from 'compression';
import cors from 'cors';
import { Hono } from 'hono';
import { compress } from 'hono/compress';
import { cors as honoCors } from 'hono/cors';
import { afterAll, beforeAll, vi } from 'vitest';

// As in most hosts on Hono, its server replaces these two globals. Later files of the process need those of Node.
beforeAll(() => {
  vi.stubGlobal('Request', Request);
  vi.stubGlobal('Response', Response);
});
afterAll(() => {
  vi.unstubAllGlobals();
});

adapterSuite({
  name: 'node:http',
  create: createNodeHost,
  skip: {
    'passes on the client address from a trusted proxy of the host': 'node:http knows nothing of proxies',
    'passes on the parameters of a route of the host': 'node:http has no router',
  },
});
const QUEUED = 'stops a response that waits behind a pipelined one when the client leaves';
adapterSuite({
  name: 'fetch, in Hono',
  create: createHonoHost,
  skip:
    Number.parseInt(process.versions.node, 10) < 24
      ? { [QUEUED]: 'before Node 24 a fetch-style host does not hear of it itself' }
      : {},
});

type Middleware = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

/** A server without a framework; framework features are called by hand. */
async function createNodeHost(setup: HostSetup): Promise<Host> {
  const errors: unknown[] = [];
  const seen: number[] = [];
  const inFront: Middleware[] = [];
  if (setup.stamp === true) {
    inFront.push((_request, response, next) => {
      response.setHeader('X-Host', 'yes');
      response.on('finish', () => seen.push(response.statusCode));
      next();
    });
  }
  if (setup.compression === true) inFront.push(compression({ threshold: 0 }) as unknown as Middleware);
  if (setup.cors === true) inFront.push(cors({ origin: 'https://app.example' }));
  if (setup.bodyParser === 'json') inFront.push(bodyParser.json());
  if (setup.bodyParser === 'raw') inFront.push(bodyParser.raw({ type: () => true }));
  if (setup.bodyParser === 'text') inFront.push(bodyParser.text());
  const mountPath = setup.mountPath ?? '';
  const ours =
    setup.mountedAfter === true
      ? answerOwn(setup, toNodeListener(setup.api, ownRoutes, { mountPath }))
      : toNodeListener(setup.api, answerOwn(setup, ownRoutes), { mountPath });
  const listener = inFront.reduceRight<RequestListener>(
    (next, middleware) => (request, response) => middleware(request, response, () => next(request, response)),
    ours,
  );
  return listen(listener, { errors, seen });

  function ownRoutes(request: IncomingMessage, response: ServerResponse): void {
    const say = (status: number, text: string) => {
      response.writeHead(status, { 'Content-Type': 'text/plain' }).end(text);
    };
    if (request.url === '/host') {
      say(200, 'the host');
    } else if (request.url === '/host/echo') {
      void json(request).then((value) => say(200, JSON.stringify(value)));
    } else if (request.url === '/host/fails') {
      errors.push(new Error('a failure of the host'));
      say(500, 'the host failed');
    } else {
      say(404, 'the host knows no such path');
    }
  }
}

/** Serves the setup's own routes before a listener. */
function answerOwn({ ownRoutes = [] }: HostSetup, next: RequestListener): RequestListener {
  return (request, response) => {
    const own = ownRoutes.find(({ method, path }) => method === request.method && path === request.url);
    if (own === undefined) next(request, response);
    else response.writeHead(200).end(`the host: ${own.method} ${own.path}`);
  };
}

async function createHonoHost(setup: HostSetup): Promise<Host> {
  const errors: unknown[] = [];
  const seen: number[] = [];
  const app = new Hono();
  app.onError((error, context) => {
    errors.push(error);
    return context.text('the host failed', 500);
  });
  app.notFound((context) => context.text('the host knows no such path', 404));
  if (setup.stamp === true) {
    app.use(async (context, next) => {
      await next();
      context.res.headers.set('X-Host', 'yes');
      seen.push(context.res.status);
    });
  }
  if (setup.compression === true) app.use(compress({ threshold: 0 }));
  if (setup.cors === true) app.use(honoCors({ origin: 'https://app.example' }));
  const handle = toFetchHandler(setup.api, { mountPath: setup.mountPath ?? '' });
  const mountApi = () => {
    if (setup.asRoute === true) {
      app.post('/ask/:id', async (context, next) => {
        return (await handle(context.req.raw, { params: context.req.param() })) ?? next();
      });
      return;
    }
    app.use(async (context, next) => {
      const { req } = context;
      const forwarded = setup.trustProxy === true ? req.header('X-Forwarded-For') : undefined;
      const remoteAddress = forwarded ?? getConnInfo(context).remote.address;
      const parsed = await parse(setup.bodyParser, req.raw);
      return (await handle(req.raw, { remoteAddress, parsed })) ?? next();
    });
  };
  if (setup.mountedAfter !== true) mountApi();
  for (const { method, path } of setup.ownRoutes ?? []) {
    app.on(method, path, (context) => context.text(`the host: ${method} ${path}`));
  }
  app.get('/host', (context) => context.text('the host'));
  app.post('/host/echo', async (context) => context.json(await context.req.json()));
  app.get('/host/fails', () => {
    throw new Error('a failure of the host');
  });
  if (setup.mountedAfter === true) mountApi();
  return listen(getRequestListener(app.fetch), { errors, seen });
}

/** A host whose body parser runs first. */
async function parse(kind: HostSetup['bodyParser'], request: Request): Promise<unknown> {
  const type = request.headers.get('content-type') ?? '';
  if (request.method !== 'POST' || kind === undefined) return undefined;
  if (kind === 'raw') return new Uint8Array(await request.arrayBuffer());
  if (kind === 'text') return type.startsWith('text/') ? request.text() : undefined;
  if (!type.startsWith('application/json')) return undefined;
  const text = await request.text();
  return text === '' ? undefined : JSON.parse(text);
}
