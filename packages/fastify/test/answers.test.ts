import { once } from 'node:events';
import { connect } from 'node:net';
import type { ApiRequest, ApiResponse } from '@questline/core';
import { toFastify } from '@questline/fastify';
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createDeferred } from '../../../test/support/deferred.ts';

/** A streamed body that resolves `returned` when it is returned unread. */
function createStream() {
  const { promise: returned, resolve } = createDeferred<void>();
  const body: AsyncIterableIterator<string> = {
    next: async () => ({ done: true, value: undefined }),
    async return() {
      resolve();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => body,
  };
  return { body, returned };
}

function mount(handle: (request: ApiRequest) => Promise<ApiResponse>): FastifyInstance {
  const app = Fastify();
  onTestFinished(() => app.close());
  app.register(toFastify({ handle }));
  return app;
}

describe('an answer in Fastify', () => {
  it('is not sent, and its stream returned, when the host has already answered', async () => {
    const { body, returned } = createStream();
    const answered = createDeferred<void>();
    const app = mount(async () => {
      await answered.promise;
      return { status: 200, headers: {}, body };
    });
    app.addHook('onRequest', (_request, reply: FastifyReply, done) => {
      done();
      reply.raw.once('finish', answered.resolve);
      reply.code(503).send('too slow');
    });
    const answer = await app.inject('/x');
    expect([answer.statusCode, answer.body]).toEqual([503, 'too slow']);
    await returned;
  });

  it('is not sent, and its stream returned, when the client has left', async () => {
    const { body, returned } = createStream();
    const began = createDeferred<void>();
    const app = mount(async ({ signal }) => {
      began.resolve();
      await once(signal, 'abort');
      return { status: 200, headers: {}, body };
    });
    const { port, hostname } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }));
    const socket = connect(Number(port), hostname);
    socket.write('GET /x HTTP/1.1\r\nHost: a\r\n\r\n');
    await began.promise;
    socket.destroy();
    await returned;
  });

  it('is 500, and its stream returned, when a header cannot be written', async () => {
    const { body, returned } = createStream();
    const app = mount(async () => ({ status: 200, headers: { 'X-Text': 'two\nlines' }, body }));
    const answer = await app.inject('/x');
    expect(answer.statusCode).toBe(500);
    expect(answer.body).not.toContain('lines');
    await returned;
  });
});
