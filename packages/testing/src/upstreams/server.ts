import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { performance } from 'node:perf_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import type { BinaryAnswer, Protocol } from './protocol.ts';
import { type Frame, type Script, type ScriptSource, toBytes } from './script.ts';
import type { Upstream, UpstreamOptions, UpstreamRequest } from './upstream.ts';
import { createVideos } from './videos.ts';

/** Starts an upstream for a protocol. */
export async function startUpstream(protocol: Protocol, options: UpstreamOptions = {}): Promise<Upstream> {
  const requests: UpstreamRequest[] = [];
  const waiting = new Map<number, (request: UpstreamRequest) => void>();
  // Static scripts are rendered once, so that benchmarks measure the client and not this server.
  const rendered = new WeakMap<Script, Map<string, readonly Frame[]>>();
  let script: ScriptSource = options.script ?? {};
  let connections = 0;

  const getFrames = (chosen: Script, path: string): readonly Frame[] => {
    let byPath = rendered.get(chosen);
    if (byPath === undefined) {
      byPath = new Map();
      rendered.set(chosen, byPath);
    }
    let frames = byPath.get(path);
    if (frames === undefined) {
      frames = protocol.frames(chosen, path);
      byPath.set(path, frames);
    }
    return frames;
  };

  const videos = createVideos();
  const numbers = new WeakMap<object, number>();
  const server = createServer((incoming, response) => {
    incoming.socket.setNoDelay(true);
    void serve(incoming, response).catch(() => response.destroy());
  });
  server.keepAliveTimeout = 60_000;
  server.on('connection', (socket) => {
    connections += 1;
    numbers.set(socket, connections);
  });

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const request = receive(incoming, response, Buffer.concat(chunks), numbers.get(incoming.socket) ?? 0);
    requests.push(request);
    const number = requests.length - 1;
    waiting.get(number)?.(request);
    waiting.delete(number);
    const chosen = typeof script === 'function' ? script(request) : script;
    if (chosen.wait !== undefined) await chosen.wait;
    const refusal = chosen.refusal;
    if (refusal !== undefined) return refuse(response, refusal);
    const { method, path, body } = request;
    const answer = protocol.answer?.(path, body, { method, origin, videos, script: chosen });
    if (isBinary(answer)) return deliver(response, answer, chosen);
    if (isStatus(answer)) return refuse(response, answer);
    if (answer !== undefined) return refuse(response, { status: 200, body: answer });
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
    });
    await play(response, request, chosen, getFrames(chosen, path));
  }

  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    baseUrl: origin + protocol.basePath,
    requests,
    get connections() {
      return connections;
    },
    get openConnections() {
      return (server as unknown as { _connections: number })._connections;
    },
    use(next) {
      script = next;
    },
    request(number) {
      const known = requests[number];
      if (known !== undefined) return Promise.resolve(known);
      return new Promise((resolve) => waiting.set(number, resolve));
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function isBinary(answer: unknown): answer is BinaryAnswer {
  return (
    typeof answer === 'object' && answer !== null && 'data' in answer && answer.data instanceof Uint8Array
  );
}

function isStatus(answer: unknown): answer is { readonly status: number; readonly body: unknown } {
  return (
    typeof answer === 'object' && answer !== null && 'status' in answer && typeof answer.status === 'number'
  );
}

/** With its length, so that clients can detect a partial delivery. */
async function deliver(response: ServerResponse, answer: BinaryAnswer, script: Script): Promise<void> {
  const { contentType, data } = answer;
  response.writeHead(200, { 'content-type': contentType, 'content-length': data.length });
  if (script.truncate === undefined) return void response.end(data);
  const part = data.subarray(0, script.truncate.at);
  await new Promise<void>((resolve) =>
    part.length === 0 ? resolve() : response.write(part, () => resolve()),
  );
  if (script.stall !== undefined) await script.stall;
  response.destroy();
}

function receive(
  incoming: IncomingMessage,
  response: ServerResponse,
  bytes: Buffer,
  connection: number,
): UpstreamRequest {
  const text = bytes.toString('utf8');
  let body: unknown = text;
  try {
    body = JSON.parse(text);
  } catch {
    // Not JSON: kept as text.
  }
  let left: (at: number) => void = () => {};
  const request: UpstreamRequest = {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: incoming.headers,
    body,
    bytes,
    receivedAt: performance.now(),
    disconnectedAt: undefined,
    disconnected: new Promise((resolve) => {
      left = resolve;
    }),
    written: 0,
    blocked: false,
    connection,
  };
  response.on('close', () => {
    if (response.writableFinished) return;
    request.disconnectedAt = performance.now();
    left(request.disconnectedAt);
  });
  return request;
}

function refuse(response: ServerResponse, refusal: NonNullable<Script['refusal']>): void {
  const text = typeof refusal.body === 'string' ? refusal.body : JSON.stringify(refusal.body);
  const type = typeof refusal.body === 'string' ? 'text/plain' : 'application/json';
  response.writeHead(refusal.status, { 'content-type': type, ...refusal.headers });
  response.end(text);
}

async function play(
  response: ServerResponse,
  request: UpstreamRequest,
  script: Script,
  frames: readonly Frame[],
): Promise<void> {
  if (script.cutAt !== undefined) {
    const bytes = toBytes(frames);
    await send(response, request, bytes.subarray(0, script.cutAt));
    await turn();
    await turn();
    await send(response, request, bytes.subarray(script.cutAt));
    response.end();
    return;
  }
  if (script.truncate !== undefined) {
    await send(response, request, toBytes(frames).subarray(0, script.truncate.at));
    if (script.truncate.by === 'end') {
      response.end();
    } else {
      await turn();
      response.destroy();
    }
    return;
  }
  let ready = '';
  const flush = async () => {
    const text = ready;
    ready = '';
    if (text !== '') await send(response, request, text);
  };
  for (const frame of frames) {
    if (response.destroyed) return;
    if (typeof frame === 'string') {
      if (script.pace !== undefined && script.pace > 0) {
        await send(response, request, frame);
        await delay(response, script.pace);
      } else if (script.separate === true) {
        await send(response, request, frame);
      } else {
        ready += frame;
      }
    } else if ('wait' in frame) {
      await flush();
      if (typeof frame.wait === 'number') await delay(response, frame.wait);
      else await frame.wait;
    } else {
      await flush();
      await turn();
      response.destroy();
      return;
    }
  }
  response.end(ready);
}

/** Writes with backpressure. */
function send(
  response: ServerResponse,
  request: UpstreamRequest,
  bytes: string | Buffer,
): Promise<void> | void {
  if (bytes.length === 0) {
    response.flushHeaders();
    return;
  }
  request.written += Buffer.byteLength(bytes);
  if (response.write(bytes)) return;
  request.blocked = true;
  return new Promise((resolve) => {
    const go = () => {
      request.blocked = false;
      response.off('drain', go);
      response.off('close', go);
      resolve();
    };
    response.on('drain', go);
    response.on('close', go);
  });
}

/** Waits, at most until the client disconnects. */
function delay(response: ServerResponse, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      clearTimeout(timer);
      response.off('close', go);
      resolve();
    };
    const timer = setTimeout(go, milliseconds);
    response.on('close', go);
  });
}
