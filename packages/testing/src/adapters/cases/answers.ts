import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { gunzipSync } from 'node:zlib';
import type { AdapterCase } from '../host.ts';
import { events, json, ScriptedBody, scripted, text } from '../scripted.ts';

const LARGE = JSON.stringify({ text: 'na\u00efve \u2713 '.repeat(500_000) });

/** Responses that are complete before they are sent. */
export const answerCases: readonly AdapterCase[] = [
  {
    name: 'sends text with its length in bytes',
    async run(stage) {
      const host = await stage.start({ api: scripted({ '/api/text': () => text('na\u00efve \u2713') }) });
      const { status, headers, body } = await host.ask({ path: '/api/text' });
      deepEqual([status, body.toString()], [200, 'na\u00efve \u2713']);
      deepEqual([headers['content-type'], headers['content-length']], ['text/plain; charset=utf-8', '10']);
      equal(headers['transfer-encoding'], undefined);
    },
  },
  {
    name: 'sends bytes unchanged',
    async run(stage) {
      const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
      // A view into something larger: only its own part may be sent.
      const body = new Uint8Array([...bytes, 1, 2, 3]).subarray(0, 256);
      const host = await stage.start({
        api: scripted({
          '/api/bytes': () => ({ status: 200, headers: { 'Content-Type': 'image/png' }, body }),
        }),
      });
      const answer = await host.ask({ path: '/api/bytes' });
      deepEqual([answer.headers['content-type'], answer.headers['content-length']], ['image/png', '256']);
      deepEqual(answer.body, Buffer.from(bytes));
    },
  },
  {
    name: 'sends a large response whole',
    async run(stage) {
      const api = scripted({
        '/api/large': () => ({ status: 200, headers: { 'Content-Type': 'application/json' }, body: LARGE }),
      });
      const host = await stage.start({ api });
      ok((await host.ask({ path: '/api/large' })).body.equals(Buffer.from(LARGE)));
    },
  },
  {
    name: 'sends the content type of the response',
    async run(stage) {
      const types = ['application/json', 'application/json; charset=utf-8', 'text/html', 'audio/mpeg'];
      const host = await stage.start({
        api: scripted({
          '/api/typed': ({ query }) => ({
            status: 200,
            headers: { 'Content-Type': decodeURIComponent(query) },
            body: '{}',
          }),
        }),
      });
      for (const type of types) {
        const answer = await host.ask({ path: `/api/typed?${encodeURIComponent(type)}` });
        equal(answer.headers['content-type'], type);
      }
    },
  },
  {
    name: 'sends an empty response with length 0 and no type',
    async run(stage) {
      const api = scripted({
        '/api/empty': () => ({ status: 202, headers: { 'X-A': '1' }, body: undefined }),
      });
      const host = await stage.start({ api });
      const { status, headers, body } = await host.ask({ path: '/api/empty' });
      deepEqual([status, body.length, headers['content-length'], headers['x-a']], [202, 0, '0', '1']);
      equal(headers['content-type'], undefined);
    },
  },
  {
    name: 'sends 204 and 304 without body and length',
    async run(stage) {
      const host = await stage.start({
        api: scripted({
          '/api/204': () => ({ status: 204, headers: { 'X-A': '1' }, body: undefined }),
          '/api/304': () => ({ status: 304, headers: { ETag: '"1"' }, body: undefined }),
          '/api/hello': () => text('hello'),
        }),
      });
      const connection = await host.connect();
      for (const status of [204, 304]) {
        connection.send({ path: `/api/${status}` });
        const answer = await connection.answer();
        equal(answer.status, status);
        deepEqual(
          [answer.headers['content-length'], answer.headers['transfer-encoding']],
          [undefined, undefined],
        );
      }
      // A body would precede this response.
      connection.send({ path: '/api/hello' });
      equal((await connection.answer()).body.toString(), 'hello');
    },
  },
  {
    name: 'answers HEAD with the head of GET',
    async run(stage) {
      const host = await stage.start({ api: scripted({ '/api/text': () => text('na\u00efve') }) });
      const connection = await host.connect();
      connection.send({ method: 'HEAD', path: '/api/text' });
      const head = await connection.answer('HEAD');
      deepEqual([head.status, head.headers['content-length']], [200, '6']);
      equal(head.headers['content-type'], 'text/plain; charset=utf-8');
      connection.send({ path: '/api/text' });
      equal((await connection.answer()).body.toString(), 'na\u00efve');
    },
  },
  {
    name: 'answers HEAD of a stream with its head and returns the stream unread',
    async run(stage) {
      const body = new ScriptedBody();
      const host = await stage.start({ api: scripted({ '/api/stream': () => events(body) }) });
      const head = await host.ask({ method: 'HEAD', path: '/api/stream' });
      deepEqual([head.status, head.headers['content-type']], [200, 'text/event-stream']);
      deepEqual([body.reads, body.returns, body.ends], [0, 1, 1]);
    },
  },
  {
    name: 'passes errors with their headers: 405 with Allow, 401 with its challenge, 429 with Retry-After',
    async run(stage) {
      const refusals = {
        '/api/405': { status: 405, headers: { Allow: 'GET, HEAD' } },
        '/api/401': { status: 401, headers: { 'WWW-Authenticate': 'Bearer' } },
        '/api/429': { status: 429, headers: { 'Retry-After': '7', 'RateLimit-Limit': '60' } },
      };
      const host = await stage.start({
        api: {
          async handle({ path }) {
            const refusal = refusals[path as keyof typeof refusals];
            return {
              ...refusal,
              headers: { ...refusal.headers, 'Content-Type': 'application/json' },
              body: '{}',
            };
          },
        },
      });
      for (const [path, { status, headers }] of Object.entries(refusals)) {
        const answer = await host.ask({ method: 'PATCH', path });
        equal(answer.status, status);
        for (const [name, value] of Object.entries(headers)) equal(answer.headers[name.toLowerCase()], value);
      }
      deepEqual(host.errors, []);
    },
  },
  {
    name: 'keeps responses valid behind compression',
    async run(stage) {
      const value = { text: 'compressible '.repeat(1000) };
      const host = await stage.start({
        api: scripted({ '/api/json': () => json(value) }),
        compression: true,
      });
      const answer = await host.ask({ path: '/api/json', headers: { 'Accept-Encoding': 'gzip' } });
      const { 'content-encoding': encoding = 'identity' } = answer.headers;
      match(encoding, /^(gzip|identity)$/);
      const bytes = encoding === 'gzip' ? gunzipSync(answer.body) : answer.body;
      deepEqual(JSON.parse(bytes.toString()), value);
    },
  },
];
