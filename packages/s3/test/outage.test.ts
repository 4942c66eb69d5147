import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isStorageUnavailable, type ObjectStore } from '@questline/core/ports';
import { afterEach, describe, expect, it } from 'vitest';
import { createS3Objects } from '../src/index.ts';

const KEYS = { bucket: 'things', region: 'us-east-1', accessKeyId: 'a', secretAccessKey: 'b' };
const TEXT = { contentType: 'text/plain' };

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function open(listener: RequestListener, timeoutMs = 10_000): Promise<ObjectStore> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return createS3Objects({ ...KEYS, endpoint: `http://127.0.0.1:${port}`, timeoutMs });
}

const CALLS: readonly [name: string, call: (objects: ObjectStore) => Promise<unknown>][] = [
  ['put', (objects) => objects.put('a', new Uint8Array(3), TEXT)],
  ['put of unknown size', (objects) => objects.put('a', pieces(), TEXT)],
  ['get', (objects) => objects.get('a')],
  ['head', (objects) => objects.head('a')],
  ['remove', (objects) => objects.remove('a')],
];

async function* pieces(): AsyncGenerator<Uint8Array> {
  for (let count = 0; count < 9; count += 1) yield new Uint8Array(1_000_000);
}

const FAULTS: readonly [name: string, listener: RequestListener, timeoutMs?: number][] = [
  ['answers 500', (_, response) => response.writeHead(500).end()],
  ['answers 503', (_, response) => response.writeHead(503).end('<Code>SlowDown</Code>')],
  ['answers 429', (_, response) => response.writeHead(429).end()],
  ['closes the connection', (request) => request.socket.destroy()],
  ['does not answer', (request) => request.resume(), 60],
];

describe.each(FAULTS)('an object store that %s', (_, listener, timeoutMs) => {
  it.each(CALLS)('is unavailable: %s', async (__, call) => {
    const error: unknown = await call(await open(listener, timeoutMs)).catch((reason: unknown) => reason);
    expect(isStorageUnavailable(error), String(error)).toBe(true);
  });
});

describe('an object store that answers', () => {
  it('is not unavailable when it refuses a request', async () => {
    const objects = await open((_, response) => response.writeHead(403).end('<Code>AccessDenied</Code>'));
    for (const [, call] of CALLS) {
      const error: unknown = await call(objects).catch((reason: unknown) => reason);
      expect(isStorageUnavailable(error), String(error)).toBe(false);
      expect(String(error)).toContain('403');
    }
  });

  it('may send the bytes after the time of an answer', async () => {
    // Long enough for the head of the answer on a busy machine.
    const timeoutMs = 1000;
    const objects = await open((_, response) => {
      response.writeHead(200, { 'content-length': 6 });
      response.write('abc');
      setTimeout(() => response.end('def'), 1.2 * timeoutMs);
    }, timeoutMs);
    const content = await objects.get('a');
    let text = '';
    for await (const part of content?.body ?? []) text += Buffer.from(part).toString();
    expect(text).toBe('abcdef');
  });

  it.each(['put', 'get'] as const)('rejects %s with the reason of a caller who leaves', async (name) => {
    const leaving = new AbortController();
    const reason = new Error('left');
    const { signal } = leaving;
    const objects = await open((request) => {
      request.resume();
      // A request that only the garbage collector still knows would not hear of the abort.
      collectGarbage();
      setImmediate(() => leaving.abort(reason));
    });
    const call =
      name === 'get'
        ? objects.get('a', undefined, { signal })
        : objects.put('a', new Uint8Array(3), TEXT, { signal });
    await expect(call).rejects.toBe(reason);
  });
});
