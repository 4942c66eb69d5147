import { createHash, randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { assertObjectKey } from '../memory/objects.ts';
import type { ObjectInfo, ObjectStore } from '../ports/objects.ts';
import { finalizing } from '../shared/streams.ts';
import { getHead, HEAD_BYTES, readHead } from './format.ts';

const CHUNK_BYTES = 64 * 1024;
/** Age after which a temporary file has no live writer. */
const ABANDONED_MS = 24 * 3_600_000;

export interface DirectoryOptions {
  /**
   * Absolute path, created if missing. Use it for nothing else. Processes of one machine may share it; machines must
   * not.
   */
  readonly folder: string;
}

/**
 * Stores objects in a local folder. Each write goes to a temporary file, is flushed to disk and then renamed, so that
 * readers see the old or the new object, also after a power failure.
 */
export function createDirectoryObjects({ folder }: DirectoryOptions): ObjectStore {
  const unfinished = join(folder, 'unfinished');
  let prepared: Promise<unknown> | undefined;

  const prepare = (): Promise<unknown> => {
    prepared ??= clearAway(unfinished).catch((error: unknown) => {
      prepared = undefined;
      throw error;
    });
    return prepared;
  };

  const reading = async <T>(key: string, read: (file: FileHandle, info: ObjectInfo) => Promise<T>) => {
    if (!isKey(key)) return undefined;
    const file = await openOrNone(getPath(folder, key));
    if (file === undefined) return undefined;
    try {
      return await read(file, await readHead(file, key));
    } catch (error) {
      await file.close();
      throw error;
    }
  };

  return {
    async put(key, body, { contentType, size }, { signal } = {}) {
      signal?.throwIfAborted();
      assertObjectKey(key);
      await prepare();
      const draft = join(unfinished, randomBytes(16).toString('hex'));
      const file = await open(draft, 'wx', 0o600);
      try {
        const info = { key, contentType, ...(await write(file, body, size, signal)) };
        await file.write(getHead(info), 0, HEAD_BYTES, 0);
        await file.sync();
        await file.close();
        signal?.throwIfAborted();
        await moveTo(draft, getPath(folder, key));
        return info;
      } catch (error) {
        await file.close().catch(() => undefined);
        await rm(draft, { force: true });
        throw error;
      }
    },

    async get(key, range, { signal } = {}) {
      signal?.throwIfAborted();
      return reading(key, async (file, info) => {
        const { start, end } = range ?? { start: 0, end: info.size - 1 };
        if (range !== undefined && (start < 0 || start >= info.size || end < start)) {
          throw new RangeError(`bytes ${start}-${end} of ${info.size}`);
        }
        return { ...info, body: toBytes(file, start, Math.min(end, info.size - 1)) };
      });
    },

    async head(key, { signal } = {}) {
      signal?.throwIfAborted();
      return reading(key, async (file, info) => {
        await file.close();
        return info;
      });
    },

    async remove(key, { signal } = {}) {
      signal?.throwIfAborted();
      if (isKey(key)) await rm(getPath(folder, key), { force: true });
    },
  };
}

/** Distributes files over 256 folders. A dot, which no key contains, replaces the slash. */
function getPath(folder: string, key: string): string {
  const shard = createHash('sha256').update(key).digest('hex');
  const name = key.replaceAll('/', '.');
  return join(folder, shard.slice(0, 2), name.length <= 200 ? name : shard);
}

function isKey(key: string): boolean {
  try {
    assertObjectKey(key);
    return true;
  } catch {
    return false;
  }
}

/** Removes temporary files of killed processes. */
async function clearAway(unfinished: string): Promise<void> {
  await mkdir(unfinished, { recursive: true, mode: 0o700 });
  const before = Date.now() - ABANDONED_MS;
  for (const name of await readdir(unfinished)) {
    const path = join(unfinished, name);
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined && found.mtimeMs < before) await rm(path, { force: true });
  }
}

async function write(
  file: FileHandle,
  body: Uint8Array | AsyncIterable<Uint8Array>,
  size: number | undefined,
  signal: AbortSignal | undefined,
): Promise<{ size: number; etag: string }> {
  const hash = createHash('sha256');
  let length = 0;
  for await (const part of body instanceof Uint8Array ? [body] : body) {
    signal?.throwIfAborted();
    if (size !== undefined && length + part.length > size) throw otherSize(size);
    for (let at = 0; at < part.length; ) {
      at += (await file.write(part, at, part.length - at, HEAD_BYTES + length + at)).bytesWritten;
    }
    hash.update(part);
    length += part.length;
  }
  signal?.throwIfAborted();
  if (size !== undefined && length !== size) throw otherSize(size);
  return { size: length, etag: hash.digest('hex').slice(0, 32) };
}

function otherSize(size: number): RangeError {
  return new RangeError(`the object has another number of bytes than ${size}`);
}

async function moveTo(draft: string, path: string): Promise<void> {
  const parent = dirname(path);
  await mkdir(parent, { recursive: true, mode: 0o700 });
  await rename(draft, path);
  // Flushes the folder entry too. Not every system can open a folder.
  const handle = await open(parent, 'r').catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

async function openOrNone(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Closes the file after the last byte or when the reader stops, even before the first read. */
function toBytes(file: FileHandle, start: number, end: number): AsyncIterable<Uint8Array> {
  async function* read(): AsyncGenerator<Uint8Array, void> {
    for (let at = start; at <= end; ) {
      const length = Math.min(CHUNK_BYTES, end - at + 1);
      // A new buffer per chunk, because the reader may keep it.
      const { buffer, bytesRead } = await file.read(
        Buffer.allocUnsafeSlow(length),
        0,
        length,
        HEAD_BYTES + at,
      );
      if (bytesRead === 0) throw new Error('the file of an object has been cut off');
      yield buffer.subarray(0, bytesRead);
      at += bytesRead;
    }
  }
  return finalizing(read(), () => file.close());
}
