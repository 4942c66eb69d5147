import { deepEqual, equal, match } from 'node:assert/strict';
import type { AdapterCase } from '../host.ts';
import { events, json, ScriptedBody, scripted, text } from '../scripted.ts';

const api = scripted({
  '/api/hello': () => text('hello'),
  '/api/fails': () => {
    throw new Error('secret of the api');
  },
});

/** The host keeps its routes, its errors and its process. */
export const guestCases: readonly AdapterCase[] = [
  {
    name: 'keeps the routes of the host',
    async run(stage) {
      const host = await stage.start({ api });
      const own = await host.ask({ path: '/host' });
      deepEqual([own.status, own.body.toString()], [200, 'the host']);
      equal((await host.ask({ path: '/api/hello' })).body.toString(), 'hello');
    },
  },
  {
    name: 'lets the host read the bodies of its own routes',
    async run(stage) {
      const host = await stage.start({ api });
      const answer = await host.ask({
        method: 'POST',
        path: '/host/echo',
        headers: { 'Content-Type': 'application/json' },
        body: '{"a":"\u00e9"}',
      });
      deepEqual([answer.status, JSON.parse(answer.body.toString())], [200, { a: '\u00e9' }]);
    },
  },
  {
    name: 'passes an unknown path to the 404 handler of the host',
    async run(stage) {
      const host = await stage.start({ api });
      for (const path of ['/nope', '/api', '/api/', '/api/hell', '/api/hello/', '/API/HELLO', '/']) {
        const answer = await host.ask({ path });
        deepEqual([path, answer.status, answer.body.toString()], [path, 404, 'the host knows no such path']);
      }
    },
  },
  {
    name: 'passes an unknown path with a body to the 404 handler of the host',
    async run(stage) {
      const host = await stage.start({ api });
      const answer = await host.ask({
        method: 'POST',
        path: '/nope',
        headers: { 'Content-Type': 'application/json' },
        body: '{}',
      });
      deepEqual([answer.status, answer.body.toString()], [404, 'the host knows no such path']);
    },
  },
  {
    name: 'passes errors of the host to its error handler',
    async run(stage) {
      const host = await stage.start({ api });
      const answer = await host.ask({ path: '/host/fails' });
      deepEqual([answer.status, answer.body.toString()], [500, 'the host failed']);
      equal(host.errors.length, 1);
    },
  },
  {
    name: 'answers a plain 500 for an internal error and hides it from the host',
    async run(stage) {
      const host = await stage.start({ api });
      const answer = await host.ask({ path: '/api/fails' });
      equal(answer.status, 500);
      equal(answer.body.toString(), '{"error":"Internal server error"}');
      deepEqual(host.errors, []);
    },
  },
  {
    name: 'answers a plain 500 for an invalid response header',
    async run(stage) {
      const body = new ScriptedBody();
      const host = await stage.start({
        api: scripted({
          '/api/text': () => ({ status: 200, headers: { 'X-Bad': 'a\nb' }, body: 'secret' }),
          '/api/stream': () => ({ status: 200, headers: { 'X-Bad': 'a\nb' }, body }),
        }),
      });
      for (const path of ['/api/text', '/api/stream']) {
        const answer = await host.ask({ path });
        deepEqual([answer.status, answer.body.toString()], [500, '{"error":"Internal server error"}']);
      }
      deepEqual([body.reads, body.returns], [0, 1]);
      deepEqual(host.errors, []);
    },
  },
  {
    name: 'lets hooks of the host see every response and add headers',
    async run(stage) {
      const body = new ScriptedBody();
      const host = await stage.start({
        api: scripted({
          '/api/json': () => json({ ok: true }, 201),
          '/api/empty': () => ({ status: 202, headers: {}, body: undefined }),
          '/api/stream': () => events(body),
        }),
        stamp: true,
      });
      body.push('data: 1\n\n');
      body.end();
      for (const path of ['/api/json', '/api/empty', '/api/stream']) {
        equal((await host.ask({ path })).headers['x-host'], 'yes', path);
      }
      deepEqual(host.seen, [201, 202, 200]);
    },
  },
  {
    name: 'keeps CORS headers of the host on every kind of response',
    async run(stage) {
      const body = new ScriptedBody();
      const host = await stage.start({
        api: scripted({
          '/api/json': () => json({ ok: true }),
          '/api/refused': () => json({ error: 'no' }, 401),
          '/api/stream': () => events(body),
        }),
        cors: true,
      });
      body.push('data: 1\n\n');
      body.end();
      for (const path of ['/api/json', '/api/refused', '/api/stream']) {
        const answer = await host.ask({ path, headers: { Origin: 'https://app.example' } });
        equal(answer.headers['access-control-allow-origin'], 'https://app.example', path);
      }
    },
  },
  {
    name: 'lets the host answer a CORS preflight for a mounted path',
    async run(stage) {
      const host = await stage.start({ api, cors: true });
      const answer = await host.ask({
        method: 'OPTIONS',
        path: '/api/hello',
        headers: { Origin: 'https://app.example', 'Access-Control-Request-Method': 'POST' },
      });
      equal(answer.status, 204);
      match(answer.headers['access-control-allow-methods'] ?? '', /POST/);
    },
  },
  {
    name: 'shares nothing between two APIs in one process',
    async run(stage) {
      const one = await stage.start({ api: scripted({ '/api/one': () => text('one') }) });
      const two = await stage.start({ api: scripted({ '/api/two': () => text('two') }) });
      equal((await one.ask({ path: '/api/one' })).status, 200);
      equal((await one.ask({ path: '/api/two' })).status, 404);
      equal((await two.ask({ path: '/api/two' })).status, 200);
    },
  },
  {
    name: 'changes nothing global',
    async run(stage) {
      const before = snapshot();
      const body = new ScriptedBody();
      const host = await stage.start({
        api: scripted({
          '/api/stream': () => events(body),
          '/api/echo': async ({ body }) => text(String((await body.bytes(100)).length)),
        }),
      });
      body.push('data: 1\n\n');
      body.end();
      await host.ask({ path: '/api/stream' });
      await host.ask({ method: 'POST', path: '/api/echo', body: 'x' });
      deepEqual(snapshot(), before);
    },
  },
];

/** Process-wide effects that a library could have. */
function snapshot(): unknown {
  const listeners = process.eventNames().map((name) => [String(name), process.listenerCount(name)]);
  const prototypes = [Object.prototype, Array.prototype, Promise.prototype, Function.prototype];
  return {
    listeners,
    globals: Object.getOwnPropertyNames(globalThis).sort(),
    prototypes: prototypes.map((prototype) => Reflect.ownKeys(prototype).length),
  };
}
