import { deepEqual, equal, ok } from 'node:assert/strict';
import type { ApiRequest, ApiResponse } from '@questline/core';
import type { AdapterCase, HostSetup, StartedHost } from '../host.ts';
import { json, scripted, text } from '../scripted.ts';
import { aborted, signalled, within } from '../waiting.ts';

const LIMIT = 1000;

/** Returns the received body, or 413 above 1000 bytes. */
async function echo({ body, headers }: ApiRequest): Promise<ApiResponse> {
  try {
    const bytes = await body.bytes(LIMIT);
    return { status: 200, headers: { 'Content-Type': String(headers['content-type']) }, body: bytes };
  } catch (error) {
    return json({ error: error instanceof Error ? error.name : 'unknown' }, 413);
  }
}

/** Echoes a JSON body, whether the host or Questline has parsed it. */
async function meaning({ body }: ApiRequest): Promise<ApiResponse> {
  const value = body.parsed ?? JSON.parse(new TextDecoder().decode(await body.bytes(LIMIT)));
  return json({ value });
}

const api = scripted({
  '/api/echo': echo,
  '/api/meaning': meaning,
  '/api/hello': () => text('hello'),
});

const EVERY_BYTE = Uint8Array.from({ length: 256 }, (_, index) => index);

function post(host: StartedHost, path: string, type: string, body: string | Uint8Array) {
  return host.ask({ method: 'POST', path, headers: { 'Content-Type': type }, body });
}

/** The same exchange for every parser in front. */
function readsBody(
  name: string,
  setup: Omit<HostSetup, 'api'>,
  type: string,
  body: string | Uint8Array,
): AdapterCase {
  return {
    name,
    async run(stage) {
      const host = await stage.start({ api, ...setup });
      const answer = await post(host, '/api/echo', type, body);
      equal(answer.status, 200);
      deepEqual(answer.body, Buffer.from(body));
    },
  };
}

export const bodyCases: readonly AdapterCase[] = [
  readsBody('a body arrives byte for byte', {}, 'application/octet-stream', EVERY_BYTE),
  readsBody(
    'a body of another type passes a JSON parser unread',
    { bodyParser: 'json' },
    'image/png',
    EVERY_BYTE,
  ),
  readsBody(
    'bytes that the host has read are handed on',
    { bodyParser: 'raw' },
    'application/json',
    '{"a":"\u00e9"}',
  ),
  readsBody(
    'text that the host has read is handed on',
    { bodyParser: 'text' },
    'text/plain',
    'na\u00efve \u2713',
  ),
  readsBody('a body of exactly the limit is accepted', {}, 'text/plain', 'x'.repeat(LIMIT)),
  {
    name: 'passes on JSON that the host has parsed',
    async run(stage) {
      const host = await stage.start({ api, bodyParser: 'json' });
      const answer = await post(host, '/api/meaning', 'application/json', '{"a":["\u00e9",1,null]}');
      deepEqual(
        [answer.status, JSON.parse(answer.body.toString())],
        [200, { value: { a: ['\u00e9', 1, null] } }],
      );
    },
  },
  {
    name: 'passes on a missing body as empty',
    async run(stage) {
      for (const setup of [{ api }, { api, bodyParser: 'json' }] as const) {
        const host = await stage.start(setup);
        for (const headers of [{}, { 'Content-Length': '0' }, { 'Content-Type': 'application/json' }]) {
          const answer = await host.ask({ method: 'POST', path: '/api/echo', headers });
          deepEqual([answer.status, answer.body.length], [200, 0]);
        }
      }
    },
  },
  {
    name: 'accepts a body with DELETE and PATCH',
    async run(stage) {
      const host = await stage.start({ api });
      for (const method of ['DELETE', 'PATCH']) {
        const answer = await host.ask({ method, path: '/api/echo', body: 'abc' });
        deepEqual([answer.status, answer.body.toString()], [200, 'abc']);
      }
    },
  },
  {
    name: 'accepts a body of three megabytes, whatever the limit of the host',
    async run(stage) {
      const sent = Buffer.alloc(3_000_000, 'abcdefg');
      const host = await stage.start({
        api: scripted({
          '/api/large': async ({ body }) => text(String(sent.equals(await body.bytes(4_000_000)))),
        }),
      });
      const answer = await post(host, '/api/large', 'application/octet-stream', sent);
      deepEqual([answer.status, answer.body.toString()], [200, 'true']);
    },
  },
  {
    name: 'returns the same bytes when they are requested again',
    async run(stage) {
      const host = await stage.start({
        api: scripted({
          '/api/twice': async ({ body }) => {
            const [one, two] = [await body.bytes(LIMIT), await body.bytes(LIMIT)];
            return json({ same: Buffer.from(one).equals(two), length: one.length });
          },
        }),
      });
      const answer = await post(host, '/api/twice', 'text/plain', 'abc');
      deepEqual(JSON.parse(answer.body.toString()), { same: true, length: 3 });
    },
  },
  {
    name: 'accepts a chunked body',
    async run(stage) {
      const host = await stage.start({ api });
      const connection = await host.connect();
      connection.send({ method: 'POST', path: '/api/echo', headers: { 'Transfer-Encoding': 'chunked' } });
      for (const piece of ['na', '\u00ef', 've', '']) connection.writeChunk(piece);
      equal((await connection.answer()).body.toString(), 'na\u00efve');
    },
  },
  {
    name: 'rejects a body announced as too large before it is sent',
    async run(stage) {
      const host = await stage.start({ api });
      const connection = await host.connect();
      connection.send({ method: 'POST', path: '/api/echo', headers: { 'Content-Length': '10000000' } });
      const answer = await connection.answer();
      deepEqual([answer.status, answer.body.toString()], [413, '{"error":"BodyTooLarge"}']);
    },
  },
  {
    name: 'rejects a body that turns out too large and answers the client',
    async run(stage) {
      const host = await stage.start({ api });
      const connection = await host.connect();
      connection.send({ method: 'POST', path: '/api/echo', headers: { 'Transfer-Encoding': 'chunked' } });
      for (let sent = 0; sent < 100; sent++) connection.writeChunk('x'.repeat(20_000));
      const answer = await connection.answer();
      deepEqual([answer.status, answer.body.toString()], [413, '{"error":"BodyTooLarge"}']);
    },
  },
  {
    name: 'serves the next request on the connection after a rejected body',
    async run(stage) {
      const host = await stage.start({ api });
      const announced = await host.connect();
      announced.send({ method: 'POST', path: '/api/echo', body: 'x'.repeat(200_000) });
      equal((await announced.answer()).status, 413);
      announced.send({ path: '/api/hello' });
      equal((await announced.answer()).body.toString(), 'hello');

      const chunked = await host.connect();
      chunked.send({ method: 'POST', path: '/api/echo', headers: { 'Transfer-Encoding': 'chunked' } });
      chunked.writeChunk('x'.repeat(200_000));
      chunked.writeChunk('');
      equal((await chunked.answer()).status, 413);
      chunked.send({ path: '/api/hello' });
      equal((await chunked.answer()).body.toString(), 'hello');
    },
  },
  {
    name: 'serves the next request on the connection after an unread body',
    async run(stage) {
      const host = await stage.start({ api });
      const connection = await host.connect();
      connection.send({ method: 'POST', path: '/api/hello', body: 'x'.repeat(200_000) });
      equal((await connection.answer()).body.toString(), 'hello');
      connection.send({ path: '/api/hello' });
      equal((await connection.answer()).body.toString(), 'hello');
    },
  },
  {
    name: 'delivers an upload chunk by chunk while it is sent',
    async run(stage) {
      const pieces: string[] = [];
      const first = signalled();
      const host = await stage.start({
        api: scripted({
          '/api/upload': async ({ body }) => {
            for await (const piece of body.stream()) {
              pieces.push(new TextDecoder().decode(piece));
              first.resolve();
            }
            return json({ pieces });
          },
        }),
      });
      const connection = await host.connect();
      connection.send({ method: 'PUT', path: '/api/upload', headers: { 'Content-Length': '6' } });
      connection.write('one');
      await within(first.promise, 'the first piece');
      connection.write('two');
      deepEqual(JSON.parse((await connection.answer()).body.toString()), { pieces: ['one', 'two'] });
    },
  },
  {
    name: 'answers an upload cancelled in the middle and keeps the connection',
    async run(stage) {
      const host = await stage.start({
        api: scripted({
          '/api/upload': async ({ body }) => {
            for await (const _piece of body.stream()) break;
            return json({ error: 'enough' }, 413);
          },
          '/api/hello': () => text('hello'),
        }),
      });
      const connection = await host.connect();
      connection.send({ method: 'PUT', path: '/api/upload', body: 'x'.repeat(500_000) });
      equal((await connection.answer()).status, 413);
      connection.send({ path: '/api/hello' });
      equal((await connection.answer()).body.toString(), 'hello');
    },
  },
  {
    name: 'stops only the reading when a client breaks off its upload',
    async run(stage) {
      const reading = signalled<AbortSignal>();
      const ended = signalled<string>();
      const host = await stage.start({
        api: scripted({
          '/api/whole': async ({ body, signal }) => {
            const whole = body.bytes(1_000_000);
            reading.resolve(signal);
            await whole.then(
              () => ended.resolve('complete'),
              () => ended.resolve('broken off'),
            );
            return text('this is not read');
          },
          '/api/hello': () => text('hello'),
        }),
      });
      const connection = await host.connect();
      connection.send({ method: 'POST', path: '/api/whole', headers: { 'Content-Length': '500000' } });
      connection.write('x'.repeat(1000));
      const signal = await within(reading.promise, 'the reading');
      connection.leave();
      equal(await within(ended.promise, 'the end of the reading'), 'broken off');
      await within(aborted(signal), 'the signal');
      ok((await host.ask({ path: '/api/hello' })).status === 200);
    },
  },
];
