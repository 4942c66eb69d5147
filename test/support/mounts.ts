import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { type Mountable, toFetchHandler, toNodeListener } from '@questline/core';
import { toExpress } from '@questline/express';
import { toFastify } from '@questline/fastify';
import { toKoa } from '@questline/koa';
import express from 'express';
import express4 from 'express4';
import fastify from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';

/** A host application that serves an api on a free port. */
export interface MountedHost {
  readonly port: number;
  close(): Promise<void>;
}

/** Every way to mount an api. */
export const MOUNTS: readonly { readonly name: string; mount(api: Mountable): Promise<MountedHost> }[] = [
  { name: 'node:http', mount: (api) => listen(toNodeListener(api)) },
  { name: 'Express 5', mount: (api) => listen(express().use(toExpress(api))) },
  {
    name: 'Express 4',
    mount: (api) => listen((express4() as unknown as express.Express).use(toExpress(api))),
  },
  { name: 'Koa 3', mount: (api) => listen(quiet(new Koa()).use(toKoa(api)).callback()) },
  { name: 'Fastify 5', mount: mountFastify },
  { name: 'fetch, in Hono', mount: mountHono },
];

async function mountFastify(api: Mountable): Promise<MountedHost> {
  const app = fastify();
  await app.register(toFastify(api));
  await app.listen({ port: 0, host: '127.0.0.1' });
  return {
    port: (app.server.address() as AddressInfo).port,
    async close() {
      app.server.closeAllConnections();
      await app.close();
    },
  };
}

function mountHono(api: Mountable): Promise<MountedHost> {
  const app = new Hono();
  const handle = toFetchHandler(api);
  app.use(async (context, next) => (await handle(context.req.raw)) ?? next());
  return listen(getRequestListener(app.fetch, { overrideGlobalObjects: false }));
}

async function listen(listener: RequestListener): Promise<MountedHost> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Koa logs every client disconnect of a stream to the console by default. */
function quiet(app: Koa): Koa {
  app.silent = true;
  return app;
}
