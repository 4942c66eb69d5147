import { createHash, randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { assertObjectKey } from '../memory/objects.ts';
import type { ObjectInfo, ObjectStore } from '../ports/objects.ts';
import { finalizing } from '../streams.ts';
import { HEAD_BYTES, headOf, readHead } from './format.ts';

const CHUNK_BYTES = 64 * 1024;
/** By then whoever was writing is done or dead. */
const ABANDONED_MS = 24 * 3_600_000;

export interface DirectoryOptions {
  /** Absolute. Made when it is missing; nothing else should be in it. Processes may share it, machines should not. */
  readonly folder: string;
}

/**
 * Objects in a folder of this machine. An object is written beside its place and moved there once it is on the disk, so
 * that a reader, and a machine that loses its power, has the old one or the new one.
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
    const file = await openOrNone(pathOf(folder, key));
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
        await file.write(headOf(info), 0, HEAD_BYTES, 0);
        await file.sync();
        await file.close();
        signal?.throwIfAborted();
        await moveTo(draft, pathOf(folder, key));
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
        return { ...info, body: bytesOf(file, start, Math.min(end, info.size - 1)) };
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
      if (isKey(key)) await rm(pathOf(folder, key), { force: true });
    },
  };
}

/** Flat below 256 folders, so that none grows too large; a dot, which no key has, stands for the slash. */
function pathOf(folder: string, key: string): string {
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

/** What a process that was killed has left. */
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
  // The name itself has to reach the disk too. Not every system lets a folder be opened.
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

/** Closes the file at the end of the bytes, or when they are given up, even before the first. */
function bytesOf(file: FileHandle, start: number, end: number): AsyncIterable<Uint8Array> {
  async function* read(): AsyncGenerator<Uint8Array, void> {
    for (let at = start; at <= end; ) {
      const length = Math.min(CHUNK_BYTES, end - at + 1);
      // A buffer of its own each time: whoever gets it may keep it.
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
