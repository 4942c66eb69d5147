import type { RequestListener } from 'node:http';
import { type ApiRequest, type ApiResponse, type Mountable, toNodeListener } from '@questline/core';
import { adapterCases, createStage, type HostSetup, listen, type Stage } from '@questline/testing';
import { afterAll } from 'vitest';
import { type Defect, defectTests, gap } from './red.ts';

type Spoil = (sound: RequestListener, setup: HostSetup) => RequestListener;

/** A plain listener around a correct one: its defect is visible in the HTTP traffic. */
function onTheWire(name: string, red: readonly string[], spoil: Spoil): Defect<Stage> {
  return {
    name,
    red,
    create: async () =>
      createStage((setup) =>
        listen(spoil(toNodeListener(setup.api, ownRoutes), setup), { errors: [], seen: [] }),
      ),
  };
}

/** A correct listener with a defective api: the defect is visible in requests and streams. */
function inBetween(
  name: string,
  red: readonly string[],
  ask: (api: Mountable, request: ApiRequest) => Promise<ApiResponse | undefined>,
): Defect<Stage> {
  return onTheWire(name, red, (_sound, { api }) =>
    toNodeListener({ handle: (request) => ask(api, request) }, ownRoutes),
  );
}

const ownRoutes: RequestListener = (request, response) => {
  const own = request.url === '/host';
  response.writeHead(own ? 200 : 404).end(own ? 'the host' : 'the host knows no such path');
};

type Stream = AsyncIterable<string | Uint8Array>;

/** Replaces the stream of an answer, if it has one. */
function restream(response: ApiResponse | undefined, stream: (source: Stream) => Stream) {
  if (typeof response?.body !== 'object' || response.body instanceof Uint8Array) return response;
  return { ...response, body: stream(response.body) };
}

/** Replaces members of the request. */
function altered(request: ApiRequest, members: Partial<ApiRequest>): ApiRequest {
  return Object.create(request, {
    ...fixed(request),
    ...Object.fromEntries(Object.entries(members).map(([name, value]) => [name, { value }])),
  });
}

/** A derived object cannot access private members, so each getter is bound to its request. */
function fixed(request: ApiRequest): PropertyDescriptorMap {
  const names = ['method', 'path', 'query', 'headers', 'body', 'signal', 'remoteAddress'] as const;
  return Object.fromEntries(names.map((name) => [name, { get: () => request[name], configurable: true }]));
}

const leftovers: string[] = [];

const defects: readonly Defect<Stage>[] = [
  inBetween(
    'answers unknown paths itself',
    ['passes an unknown path to the 404 handler of the host'],
    async (api, request) => (await api.handle(request)) ?? { status: 404, headers: {}, body: 'nothing here' },
  ),
  onTheWire(
    'answers before the routes of the host',
    ['keeps GET /api/users of the host when mounted after it'],
    (sound) => sound,
  ),
  inBetween(
    'exposes internal errors to clients',
    ['answers a plain 500 for an internal error and hides it from the host'],
    async (api, request) => {
      try {
        return await api.handle(request);
      } catch (error) {
        return { status: 500, headers: {}, body: String(error) };
      }
    },
  ),
  inBetween('decodes paths', ['passes on path and query as sent'], async (api, request) =>
    api.handle(altered(request, { path: decodeURIComponent(request.path) })),
  ),
  inBetween(
    'reads every body before the handler asks',
    ['rejects a body announced as too large before it is sent'],
    async (api, request) => {
      await request.body.bytes(Number.POSITIVE_INFINITY);
      return api.handle(request);
    },
  ),
  inBetween(
    'has no limit for bodies',
    ['rejects a body that turns out too large and answers the client'],
    async (api, request) => {
      const { body } = request;
      const bytes = () => body.bytes(Number.POSITIVE_INFINITY);
      return api.handle(altered(request, { body: { bytes, stream: () => body.stream() } }));
    },
  ),
  inBetween(
    'does not notice that a client has left',
    ['aborts the signal and returns the stream unread when the client leaves before the response'],
    async (api, request) => api.handle(altered(request, { signal: new AbortController().signal })),
  ),
  inBetween(
    'treats the end of the request as the client leaving',
    ['does not abort the signal after a whole body and response'],
    async (api, request) => {
      const leaving = new AbortController();
      const { body } = request;
      const bytes = async (limit: number) => {
        const whole = await body.bytes(limit);
        leaving.abort();
        return whole;
      };
      const spoilt = { bytes, stream: () => body.stream() };
      return api.handle(altered(request, { body: spoilt, signal: leaving.signal }));
    },
  ),
  inBetween(
    'collects a stream before it sends it',
    ['sends each event before the next one is made', 'delays no event behind compression'],
    async (api, request) =>
      restream(await api.handle(request), async function* (source) {
        const all: (string | Uint8Array)[] = [];
        for await (const chunk of source) all.push(chunk);
        yield* all;
      }),
  ),
  inBetween(
    'leaves unstarted streams open',
    [
      'answers HEAD of a stream with its head and returns the stream unread',
      'stops the work when the client leaves before the first event',
    ],
    // A generator that never started skips its finally.
    async (api, request) =>
      restream(await api.handle(request), async function* (source) {
        yield* source;
      }),
  ),
  inBetween(
    'ends a failed stream as if it were whole',
    ['breaks the connection off when a stream fails in the middle'],
    async (api, request) =>
      restream(await api.handle(request), async function* (source) {
        try {
          yield* source;
        } catch {}
      }),
  ),
  inBetween(
    'reads a stream without backpressure',
    ['slows the source down for a slow reader'],
    async (api, request) =>
      restream(await api.handle(request), async function* (source) {
        const all: (string | Uint8Array)[] = [];
        let done = false;
        const reading = (async () => {
          for await (const chunk of source) all.push(chunk);
        })().finally(() => {
          done = true;
        });
        reading.catch(() => undefined);
        while (!done || all.length > 0) {
          yield all.splice(0).join('');
          await gap();
        }
        await reading;
      }),
  ),
  inBetween(
    'writes every event by itself',
    ['combines the events of one tick in one write'],
    async (api, request) =>
      restream(await api.handle(request), async function* (source) {
        for await (const chunk of source) {
          yield chunk;
          await new Promise(setImmediate);
        }
      }),
  ),
  onTheWire(
    'closes every connection',
    ['serves the next request on the connection after a stream', 'answers pipelined requests in order'],
    (sound) => (request, response) => {
      response.shouldKeepAlive = false;
      sound(request, response);
    },
  ),
  onTheWire('leaves something global behind', ['changes nothing global'], (sound) => (request, response) => {
    leftovers.push(`leftover${leftovers.length}`);
    Object.assign(globalThis, { [leftovers.at(-1) ?? '']: true });
    sound(request, response);
  }),
];

afterAll(() => {
  for (const name of leftovers) Reflect.deleteProperty(globalThis, name);
});

const plain = ['sends text with its length in bytes', 'keeps the routes of the host'];
for (const one of defects) {
  const cases = adapterCases.filter(({ name }) => one.red.includes(name) || plain.includes(name));
  defectTests('host adapter', cases, [one]);
}
