import { Readable } from 'node:stream';
import type { ApiRequest, Mountable } from '@questline/core';
import { toFastify } from '@questline/fastify';
import Fastify from 'fastify';
import { describe, expect, it } from 'vitest';

const all: Mountable = {
  handle: async () => ({ status: 200, headers: { 'Content-Type': 'text/plain' }, body: 'the api' }),
};

const mirror: Mountable = {
  async handle({ path, mountPath, params, remoteAddress, protocol, body }: ApiRequest) {
    const text = new TextDecoder().decode(await body.bytes(1000));
    const answer = { path, mountPath, params, remoteAddress, protocol, text };
    return { status: 200, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(answer) };
  },
};

const MOUNTS = [
  ['the api', {}],
  ['a single route', { url: '/ask/:id' }],
] as const;

describe('a request of Fastify', () => {
  it('shows the plugin under its name', async () => {
    const app = Fastify();
    await app.register(toFastify(all)).ready();
    expect(app.pluginName).toContain('@questline/fastify');
  });

  it('reaches a single route below a prefix of its own', async () => {
    const app = Fastify();
    await app.register(toFastify(mirror), { prefix: '/v2', url: '/ask/:id' });
    const answer = await app.inject({ method: 'POST', url: '/v2/ask/7', payload: 'text' });
    expect(answer.json()).toMatchObject({
      path: '/v2/ask/7',
      mountPath: '',
      params: { id: '7' },
      text: 'text',
    });
    expect((await app.inject({ method: 'POST', url: '/ask/7' })).statusCode).toBe(404);
  });

  it('reaches the api at its mount path itself', async () => {
    const app = Fastify();
    await app.register(
      (child, _options, done) => {
        child.register(toFastify(mirror), { prefix: '/ai' });
        done();
      },
      { prefix: '/v1' },
    );
    expect((await app.inject('/v1/ai')).json()).toMatchObject({ path: '/', mountPath: '/v1/ai' });
    expect((await app.inject('/v1')).statusCode).toBe(404);
  });

  it.each(MOUNTS)('gives %s the body that a hook of the host has replaced', async (_, options) => {
    const app = Fastify();
    app.addHook('preParsing', async () => Readable.from([Buffer.from('decrypted')]));
    await app.register(toFastify(mirror), options);
    const answer = await app.inject({ method: 'POST', url: '/ask/1', payload: 'encrypted' });
    expect(answer.json()).toMatchObject({ text: 'decrypted' });
  });

  it.each(MOUNTS)('gives %s the client behind a trusted proxy', async (_, options) => {
    const app = Fastify({ trustProxy: true });
    await app.register(toFastify(mirror), options);
    const headers = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https' };
    const answer = await app.inject({ method: 'POST', url: '/ask/1', headers });
    expect(answer.json()).toMatchObject({ remoteAddress: '203.0.113.9', protocol: 'https' });
  });

  it('leaves the answer to an unknown path below a prefix to the host, whatever the body', async () => {
    const app = Fastify();
    app.setNotFoundHandler(async (_request, reply) => reply.code(404).send('the host'));
    await app.register(
      (child, _options, done) => {
        child.register(toFastify({ handle: async () => undefined }), { prefix: '/ai' });
        done();
      },
      { prefix: '/v1' },
    );
    const headers = { 'content-type': 'application/json' };
    const answer = await app.inject({ method: 'POST', url: '/v1/ai/x', headers, payload: '{"broken' });
    expect([answer.statusCode, answer.body]).toEqual([404, 'the host']);
  });
});
