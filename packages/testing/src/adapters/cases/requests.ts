import { deepEqual, equal, ok } from 'node:assert/strict';
import type { ApiRequest } from '@questline/core';
import type { AdapterCase } from '../host.ts';
import { json, text } from '../scripted.ts';

/** A mountable that returns the received request for every path below `/api`. */
const mirror = {
  async handle(request: ApiRequest) {
    const { method, path, query, mountPath } = request;
    return path.startsWith('/api') ? json({ method, path, query, mountPath }) : undefined;
  },
};

const any = (answer: (request: ApiRequest) => ReturnType<typeof json>) => ({
  handle: async (request: ApiRequest) => answer(request),
});

/** The request that a mountable receives. */
export const requestCases: readonly AdapterCase[] = [
  {
    name: 'passes on path and query as sent',
    async run(stage) {
      const host = await stage.start({ api: mirror });
      const sent = [
        ['/api/caf%C3%A9/%E2%9C%93', ''],
        ['/api/a%2Fb%20c', 'a=1&a=2&b=%20+%C3%A9'],
        ['/api//x', '?'],
        ['/api/x;v=1', 'q=a?b&empty='],
      ] as const;
      for (const [path, query] of sent) {
        const answer = await host.ask({ path: query === '' ? path : `${path}?${query}` });
        equal(answer.status, 200, path);
        deepEqual(JSON.parse(answer.body.toString()), { method: 'GET', path, query, mountPath: '' });
      }
    },
  },
  {
    name: 'passes on an invalid query encoding as sent',
    async run(stage) {
      const host = await stage.start({ api: mirror });
      const answer = await host.ask({ path: '/api/x?a=%zz&b=%' });
      equal(JSON.parse(answer.body.toString()).query, 'a=%zz&b=%');
    },
  },
  {
    name: 'passes on an invalid path encoding as sent',
    async run(stage) {
      const host = await stage.start({ api: mirror });
      for (const path of ['/api/%zz', '/api/%', '/api/%C3%28']) {
        const answer = await host.ask({ path });
        equal(answer.status, 200, path);
        equal(JSON.parse(answer.body.toString()).path, path);
      }
    },
  },
  {
    name: 'passes on every method by name',
    async run(stage) {
      const host = await stage.start({ api: mirror });
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const answer = await host.ask({ method, path: '/api/x' });
        equal(answer.status, 200, method);
        equal(JSON.parse(answer.body.toString()).method, method);
      }
    },
  },
  {
    name: 'treats a request in absolute form as a request for its path',
    async run(stage) {
      const host = await stage.start({ api: mirror });
      const answer = await host.ask({ path: 'http://test.example/api/x?a=1' });
      deepEqual(JSON.parse(answer.body.toString()), {
        method: 'GET',
        path: '/api/x',
        query: 'a=1',
        mountPath: '',
      });
    },
  },
  {
    name: 'passes on header names in lower case and joins repeated headers',
    async run(stage) {
      const host = await stage.start({ api: any(({ headers }) => json({ ...headers })) });
      const answer = await host.ask({
        path: '/api/x',
        headers: { 'X-ONE': '1', 'X-Many': ['a', 'b'], Cookie: ['a=1', 'b=2'] },
      });
      const headers = JSON.parse(answer.body.toString());
      deepEqual([headers['x-one'], headers['x-many'], headers.cookie], ['1', 'a, b', 'a=1; b=2']);
    },
  },
  {
    name: 'passes on the address of the connection as the client address',
    async run(stage) {
      const host = await stage.start({ api: any(({ remoteAddress }) => json({ remoteAddress })) });
      const answer = await host.ask({ path: '/api/x', headers: { 'X-Forwarded-For': '203.0.113.9' } });
      ok(JSON.parse(answer.body.toString()).remoteAddress.endsWith('127.0.0.1'));
    },
  },
  {
    name: 'passes on the client address from a trusted proxy of the host',
    async run(stage) {
      const host = await stage.start({
        api: any(({ remoteAddress }) => json({ remoteAddress })),
        trustProxy: true,
      });
      const answer = await host.ask({ path: '/api/x', headers: { 'X-Forwarded-For': '203.0.113.9' } });
      equal(JSON.parse(answer.body.toString()).remoteAddress, '203.0.113.9');
    },
  },
  {
    name: 'passes on a relative path and the mount point below a mount point',
    async run(stage) {
      const host = await stage.start({
        api: any(({ path, query, mountPath }) => json({ path, query, mountPath })),
        mountPath: '/ai',
      });
      const sent = [
        ['/ai/api/caf%C3%A9?a=%20', { path: '/api/caf%C3%A9', query: 'a=%20', mountPath: '/ai' }],
        ['/ai', { path: '/', query: '', mountPath: '/ai' }],
        ['/ai/', { path: '/', query: '', mountPath: '/ai' }],
        ['/ai?a=1', { path: '/', query: 'a=1', mountPath: '/ai' }],
      ] as const;
      for (const [path, expected] of sent) {
        const answer = await host.ask({ path });
        equal(answer.status, 200, path);
        deepEqual(JSON.parse(answer.body.toString()), expected);
      }
    },
  },
  {
    name: 'leaves paths beside a mount point to the host',
    async run(stage) {
      const host = await stage.start({ api: any(() => text('ours')), mountPath: '/ai' });
      equal((await host.ask({ path: '/host' })).body.toString(), 'the host');
      for (const path of ['/aix', '/api/x', '/', '/x/ai']) {
        equal((await host.ask({ path })).status, 404, path);
      }
    },
  },
  {
    name: 'passes unknown paths below a mount point to the host',
    async run(stage) {
      const host = await stage.start({ api: mirror, mountPath: '/ai' });
      equal((await host.ask({ path: '/ai/api/x' })).status, 200);
      const answer = await host.ask({ method: 'POST', path: '/ai/nope', body: 'x' });
      deepEqual([answer.status, answer.body.toString()], [404, 'the host knows no such path']);
    },
  },
  {
    name: 'passes on no path parameters without a route of the host',
    async run(stage) {
      const host = await stage.start({
        api: any(({ params }) => json({ params: params ?? 'absent' })),
        mountPath: '/ai',
      });
      const answer = await host.ask({ path: '/ai/x' });
      deepEqual(JSON.parse(answer.body.toString()), { params: 'absent' });
    },
  },
  {
    name: 'passes on the parameters of a route of the host',
    async run(stage) {
      const host = await stage.start({
        api: {
          async handle({ params, body }) {
            return json({ ...params, length: (await body.bytes(100)).length });
          },
        },
        asRoute: true,
      });
      for (const [path, id] of [
        ['/ask/42', '42'],
        ['/ask/a%20%C3%A9?x=1', 'a \u00e9'],
      ] as const) {
        const answer = await host.ask({
          method: 'POST',
          path,
          headers: { 'Content-Type': 'application/json' },
          body: '{}',
        });
        deepEqual([answer.status, JSON.parse(answer.body.toString())], [200, { id, length: 2 }]);
      }
      equal((await host.ask({ method: 'POST', path: '/ask' })).status, 404);
      equal((await host.ask({ path: '/host' })).status, 200);
    },
  },
];
