import type { RequestListener } from 'node:http';
import { type ApiRequest, type ApiResponse, type Mountable, toNodeListener } from '@questline/core';
import { adapterCases, createStage, type HostSetup, listen, type Stage } from '@questline/testing';
import { afterAll } from 'vitest';
import { type Defect, defectTests, gap } from './red.ts';

type Spoil = (sound: RequestListener, setup: HostSetup) => RequestListener;

/** A plain listener around the sound one: what it does wrong shows on the wire. */
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

/** A sound listener that is handed a spoilt api: what it does wrong shows in requests and streams. */
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

/** Another stream in place of the answer's, where it has one. */
function restream(response: ApiResponse | undefined, stream: (source: Stream) => Stream) {
  if (typeof response?.body !== 'object' || response.body instanceof Uint8Array) return response;
  return { ...response, body: stream(response.body) };
}

/** The request with some of its members replaced. */
function altered(request: ApiRequest, members: Partial<ApiRequest>): ApiRequest {
  return Object.create(request, {
    ...fixed(request),
    ...Object.fromEntries(Object.entries(members).map(([name, value]) => [name, { value }])),
  });
}

/** Private members are out of reach of a derived object, so each getter is bound to the request it belongs to. */
function fixed(request: ApiRequest): PropertyDescriptorMap {
  const names = ['method', 'path', 'query', 'headers', 'body', 'signal', 'remoteAddress'] as const;
  return Object.fromEntries(names.map((name) => [name, { get: () => request[name], configurable: true }]));
}

const leftovers: string[] = [];

const defects: readonly Defect<Stage>[] = [
  inBetween(
    'answers unknown paths itself',
    ['an unknown path reaches the 404 handler of the host'],
    async (api, request) => (await api.handle(request)) ?? { status: 404, headers: {}, body: 'nothing here' },
  ),
  inBetween(
    'tells clients what went wrong inside',
    ['an error of ours is a plain 500 that says nothing and never reaches the host'],
    async (api, request) => {
      try {
        return await api.handle(request);
      } catch (error) {
        return { status: 500, headers: {}, body: String(error) };
      }
    },
  ),
  inBetween('decodes paths', ['path and query arrive as they were sent'], async (api, request) =>
    api.handle(altered(request, { path: decodeURIComponent(request.path) })),
  ),
  inBetween(
    'reads every body before it asks',
    ['a body announced as too large is refused before it is sent'],
    async (api, request) => {
      await request.body.bytes(Number.POSITIVE_INFINITY);
      return api.handle(request);
    },
  ),
  inBetween(
    'knows no limit for bodies',
    ['a body that turns out too large is refused, and the client hears of it'],
    async (api, request) => {
      const { body } = request;
      const bytes = () => body.bytes(Number.POSITIVE_INFINITY);
      return api.handle(altered(request, { body: { bytes, stream: () => body.stream() } }));
    },
  ),
  inBetween(
    'does not notice that a client has left',
    ['leaving before there is an answer aborts the signal, and the stream is returned unread'],
    async (api, request) => api.handle(altered(request, { signal: new AbortController().signal })),
  ),
  inBetween(
    'takes the end of the request for the client leaving',
    ['a whole body and a whole answer do not abort the signal'],
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
    ['each event arrives before the next one is made', 'compression in front holds no event back'],
    async (api, request) =>
      restream(await api.handle(request), async function* (source) {
        const all: (string | Uint8Array)[] = [];
        for await (const chunk of source) all.push(chunk);
        yield* all;
      }),
  ),
  inBetween(
    'leaves streams behind that never started',
    [
      'HEAD of a stream sends its head and returns it unread',
      'leaving before the first event stops the work',
    ],
    // A generator that never started skips its finally.
    async (api, request) =>
      restream(await api.handle(request), async function* (source) {
        yield* source;
      }),
  ),
  inBetween(
    'ends a failed stream as if it were whole',
    ['a stream that fails in the middle breaks the connection off'],
    async (api, request) =>
      restream(await api.handle(request), async function* (source) {
        try {
          yield* source;
        } catch {}
      }),
  ),
  inBetween(
    'reads a stream as fast as it is made',
    ['a client that reads slowly slows the source down'],
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
  inBetween('writes every event by itself', ['what one tick brings is one write'], async (api, request) =>
    restream(await api.handle(request), async function* (source) {
      for await (const chunk of source) {
        yield chunk;
        await new Promise(setImmediate);
      }
    }),
  ),
  onTheWire(
    'closes every connection',
    [
      'after a stream the connection serves the next request',
      'pipelined requests are answered in their order',
    ],
    (sound) => (request, response) => {
      response.shouldKeepAlive = false;
      sound(request, response);
    },
  ),
  onTheWire(
    'leaves something global behind',
    ['nothing global is touched'],
    (sound) => (request, response) => {
      leftovers.push(`leftover${leftovers.length}`);
      Object.assign(globalThis, { [leftovers.at(-1) ?? '']: true });
      sound(request, response);
    },
  ),
];

afterAll(() => {
  for (const name of leftovers) Reflect.deleteProperty(globalThis, name);
});

const plain = ['text is sent with its length in bytes', 'the host keeps its own routes'];
for (const one of defects) {
  const cases = adapterCases.filter(({ name }) => one.red.includes(name) || plain.includes(name));
  defectTests('host adapter', cases, [one]);
}
