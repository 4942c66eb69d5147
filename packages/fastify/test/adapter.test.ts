import type { AddressInfo } from 'node:net';
import compress from '@fastify/compress';
import cors from '@fastify/cors';
import { toFastify } from '@questline/fastify';
import { adapterSuite, type Host, type HostSetup } from '@questline/testing';
import Fastify, { type FastifyInstance } from 'fastify';

const BAD_URL = 'Fastify refuses an undecodable path itself, before any plugin hears of it';

adapterSuite({
  name: 'Fastify 5',
  create: createFastifyHost,
  skip: { 'passes on an invalid path encoding as sent': BAD_URL },
});

async function createFastifyHost(setup: HostSetup): Promise<Host> {
  const errors: unknown[] = [];
  const seen: number[] = [];
  const app = Fastify({ trustProxy: setup.trustProxy === true, forceCloseConnections: true });
  if (setup.compression === true) await app.register(compress, { threshold: 0 });
  if (setup.cors === true) await app.register(cors, { origin: 'https://app.example' });
  if (setup.stamp === true) {
    app.addHook('onSend', async (_request, reply) => {
      reply.header('X-Host', 'yes');
    });
    app.addHook('onResponse', async (_request, reply) => {
      seen.push(reply.statusCode);
    });
  }
  addParser(app, setup.bodyParser);
  const mountApi = async () => {
    if (setup.asRoute === true) await app.register(toFastify(setup.api), { url: '/ask/:id' });
    else if (setup.mountPath !== undefined)
      await app.register(toFastify(setup.api), { prefix: setup.mountPath });
    else await app.register(toFastify(setup.api));
  };
  if (setup.mountedAfter !== true) await mountApi();

  app.get('/host', async () => 'the host');
  app.post('/host/echo', async (request) => request.body);
  app.get('/host/fails', async () => {
    throw new Error('a failure of the host');
  });
  for (const { method, path } of setup.ownRoutes ?? []) {
    app.route({ method, url: path, handler: async () => `the host: ${method} ${path}` });
  }
  if (setup.mountedAfter === true) await mountApi();
  app.setNotFoundHandler((_request, reply) => {
    reply.code(404).send('the host knows no such path');
  });
  app.setErrorHandler((error, _request, reply) => {
    errors.push(error);
    reply.code(500).send('the host failed');
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  return { port, errors, seen, close: () => app.close() };
}

/** Fastify parses JSON and text by default; these parsers must not receive bodies of the api. */
function addParser(app: FastifyInstance, kind: HostSetup['bodyParser']): void {
  if (kind !== 'raw') return;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
}
