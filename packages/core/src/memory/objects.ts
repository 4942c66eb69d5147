import { createHash } from 'node:crypto';
import type { ObjectInfo, ObjectStore } from '../ports/objects.ts';

interface StoredObject extends ObjectInfo {
  readonly bytes: Uint8Array;
}

const CHUNK_BYTES = 64 * 1024;

/** Creates an object store in memory, for tests and evaluation. A restart loses all data. */
export function createMemoryObjects(): ObjectStore {
  const objects = new Map<string, StoredObject>();

  return {
    async put(key, body, { contentType, size }, options) {
      options?.signal?.throwIfAborted();
      assertObjectKey(key);
      const bytes = await collect(body, size, options?.signal);
      const etag = createHash('sha256').update(bytes).digest('hex').slice(0, 32);
      const stored = { key, size: bytes.length, contentType, etag, bytes };
      objects.set(key, stored);
      return getInfo(stored);
    },

    async get(key, range, options) {
      options?.signal?.throwIfAborted();
      const stored = objects.get(key);
      if (stored === undefined) return undefined;
      if (range === undefined) return { ...getInfo(stored), body: getChunks(stored.bytes) };
      const { start, end } = range;
      if (start < 0 || start >= stored.size || end < start) {
        throw new RangeError(`bytes ${start}-${end} of ${stored.size}`);
      }
      return { ...getInfo(stored), body: getChunks(stored.bytes.subarray(start, end + 1)) };
    },

    async head(key, options) {
      options?.signal?.throwIfAborted();
      const stored = objects.get(key);
      return stored && getInfo(stored);
    },

    async remove(key, options) {
      options?.signal?.throwIfAborted();
      objects.delete(key);
    },
  };
}

/** Checks a key: segments of `[a-z0-9_-]`, separated by single slashes. Throws a `TypeError` otherwise. */
export function assertObjectKey(key: string): void {
  if (!/^[a-z0-9_-]+(?:\/[a-z0-9_-]+)*$/.test(key)) throw new TypeError('an object key of another form');
}

function getInfo({ key, size, contentType, etag }: ObjectInfo): ObjectInfo {
  return { key, size, contentType, etag };
}

/** Reads the whole body and checks the declared size. */
async function collect(
  body: Uint8Array | AsyncIterable<Uint8Array>,
  size: number | undefined,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body instanceof Uint8Array ? [body] : body) {
    signal?.throwIfAborted();
    parts.push(Uint8Array.from(part));
    length += part.length;
    if (size !== undefined && length > size) break;
  }
  signal?.throwIfAborted();
  if (size !== undefined && length !== size) {
    throw new RangeError(`the object has ${length} bytes or more, not ${size}`);
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

async function* getChunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.slice(at, at + CHUNK_BYTES);
}
