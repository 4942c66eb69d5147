import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeListener } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { NOW } from '../support/test-app.ts';
import { createWire, type Wire } from '../support/wire.ts';

const UNKNOWN_ID = '0'.repeat(24);

async function asUser(wire: Wire): Promise<Record<string, string>> {
  return { Authorization: `Bearer ${await wire.app.token()}` };
}

/**
 * The table of the API specification and the rate classes of the other routes. Each path has an alias under
 * `/api`.
 */
const TABLE: readonly [method: string, path: string, limit: number, perMs: number, aliased: boolean][] = [
  ['GET', '/agents', 100, 60_000, true],
  ['POST', '/agents', 10, 60_000, true],
  ['PUT', `/agents/${UNKNOWN_ID}`, 30, 60_000, true],
  ['DELETE', `/agents/${UNKNOWN_ID}/delete`, 10, 60_000, true],
  ['GET', `/sessions/${UNKNOWN_ID}/agents`, 60, 60_000, true],
  ['GET', `/agents/${UNKNOWN_ID}`, 1000, 3_600_000, true],
  ['POST', `/agents/${UNKNOWN_ID}/generate-description`, 100, 3_600_000, true],
  ['POST', '/infer', 100, 3_600_000, false],
];

describe('limits of the agent routes', () => {
  it.each(TABLE)(
    '%s %s: %i, counted together at both addresses',
    async (method, path, limit, perMs, aliased) => {
      const wire = await createWire();
      const headers = await asUser(wire);
      const answers = [];
      for (let count = 0; count <= limit; count += 1) {
        const address = aliased && count % 2 === 0 ? path : `/api${path}`;
        answers.push(await wire.send({ method, path: address, headers }));
      }
      for (const [index, answer] of answers.entries()) {
        expect(answer.headers).toMatchObject({
          'x-ratelimit-limit': String(limit),
          'x-ratelimit-remaining': String(Math.max(0, limit - index - 1)),
          'x-ratelimit-reset': String((NOW + perMs) / 1000),
        });
        expect(answer.status === 429).toBe(index === limit);
      }
      expect(answers.at(-1)).toMatchObject({
        body: { error: { code: 'RATE_LIMIT_EXCEEDED' } },
        headers: { 'retry-after': String(perMs / 1000) },
      });
      await wire.app.clock.advance(perMs);
      expect((await wire.send({ method, path: `/api${path}`, headers })).status).not.toBe(429);
    },
  );

  it('are shared by attaching, detaching and listing, and by all operations that call a model', async () => {
    const wire = await createWire();
    const headers = await asUser(wire);
    const left = async (method: string, path: string) =>
      (await wire.send({ method, path, headers })).headers['x-ratelimit-remaining'];
    const session = `/api/sessions/${UNKNOWN_ID}/agents`;
    expect([await left('GET', session), await left('POST', session), await left('DELETE', session)]).toEqual([
      '59',
      '58',
      '57',
    ]);
    expect(await left('POST', '/api/infer')).toBe('99');
    expect(await left('POST', `/api/agents/${UNKNOWN_ID}/generate-description`)).toBe('98');
  });
});

describe('literal agent addresses', () => {
  it('belong to the host when the host claims them', async () => {
    const wire = await createWire({ settings: { rootAliases: false } });
    const headers = await asUser(wire);
    const paths = ['/agents', `/agents/${UNKNOWN_ID}`, `/sessions/${UNKNOWN_ID}/agents`];
    for (const path of paths) expect((await wire.send({ method: 'GET', path, headers })).status).toBe(0);
    expect((await wire.send({ method: 'GET', path: '/api/agents', headers })).status).toBe(200);
    const aliased = await createWire();
    const more = await asUser(aliased);
    for (const path of paths) {
      expect((await aliased.send({ method: 'GET', path, headers: more })).status).not.toBe(0);
    }
    expect((await aliased.send({ method: 'PATCH', path: '/agents' })).status).toBe(405);
  });
});

describe('body on GET', () => {
  it('is rejected', async () => {
    const wire = await createWire();
    const server = createServer(toNodeListener(wire.app.api)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const ask = async (path: string, body: string) => {
        const asked = request({
          port: (server.address() as AddressInfo).port,
          host: '127.0.0.1',
          method: 'GET',
          path,
          headers: { ...(await asUser(wire)), 'Content-Length': Buffer.byteLength(body) },
        });
        asked.end(body);
        const [answer] = await once(asked, 'response');
        let text = '';
        for await (const chunk of answer) text += chunk;
        return { status: answer.statusCode, body: JSON.parse(text) };
      };
      for (const path of ['/agents', `/api/agents/${UNKNOWN_ID}`, `/api/sessions/${UNKNOWN_ID}/agents`]) {
        expect(await ask(path, '{}')).toMatchObject({
          status: 400,
          body: { error: { code: 'VALIDATION_ERROR', message: 'GET takes no request body' } },
        });
      }
      expect((await ask('/agents', '')).status).toBe(200);
    } finally {
      server.close();
      await once(server, 'close');
    }
  });
});
