import { createHash } from 'node:crypto';
import fs, {
  type FileHandle,
  mkdir,
  mkdtemp,
  open,
  readdir,
  rm,
  stat,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HEAD_BYTES } from './format.ts';
import { createDirectoryObjects } from './objects.ts';

/** What closes the files, and what happens after a look at one. */
const closing = {
  close: (close: () => Promise<void>) => close(),
  afterStat: async (_path: string): Promise<void> => undefined,
};

const actual = { ...fs };

async function watchedOpen(...given: Parameters<typeof fs.open>): Promise<FileHandle> {
  const file = await actual.open(...given);
  const close = file.close.bind(file);
  return Object.assign(file, { close: () => closing.close(close) });
}

async function watchedStat(path: string) {
  const found = await actual.stat(path);
  await closing.afterStat(path);
  return found;
}

const TYPE = { contentType: 'text/plain' };
const BODY = Buffer.from('0123456789');
const DAY_MS = 86_400_000;

let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'questline-objects-'));
  Object.assign(fs, { open: watchedOpen, stat: watchedStat });
  syncBuiltinESMExports();
});

afterEach(async () => {
  Object.assign(fs, actual);
  syncBuiltinESMExports();
  vi.restoreAllMocks();
  vi.useRealTimers();
  await rm(folder, { recursive: true, force: true });
});

function hashOf(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex');
}

function pathOf(key: string): string {
  return join(folder, hashOf(key).slice(0, 2), key.replaceAll('/', '.'));
}

async function listFiles(): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}

/** The methods of all open files, to watch them or to let them fail. */
async function fileMethods(): Promise<FileHandle> {
  const file = await open(folder, 'r');
  await file.close();
  return Object.getPrototypeOf(file) as FileHandle;
}

async function readAll(body: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts).toString();
}

describe('place of an object', () => {
  it.each(['a', 'a/b', 'x'.repeat(200)])('stays the same for later versions: %s', async (key) => {
    const info = await createDirectoryObjects({ folder }).put(key, BODY, TYPE);
    expect(await listFiles()).toEqual([pathOf(key)]);
    expect(info).toEqual({ key, size: 10, contentType: 'text/plain', etag: hashOf(BODY).slice(0, 32) });
  });

  it('is named by a hash for a long key', async () => {
    const key = 'x'.repeat(201);
    await createDirectoryObjects({ folder }).put(key, BODY, TYPE);
    expect(await listFiles()).toEqual([join(folder, hashOf(key).slice(0, 2), hashOf(key))]);
  });

  it('is not found or deleted by a key of another form', async () => {
    const words = Array.from({ length: 5000 }, (_, at) => `w${at}`);
    const word = words.find((one) => pathOf(`a/${one}`) === pathOf(`a.${one}`));
    const objects = createDirectoryObjects({ folder });
    await objects.put(`a/${word}`, BODY, TYPE);
    expect([await objects.head(`a.${word}`), await objects.get(`a.${word}`)]).toEqual([undefined, undefined]);
    await objects.remove(`a.${word}`);
    expect(await objects.head(`a/${word}`)).toBeDefined();
  });

  it.runIf(process.platform !== 'win32')('is closed to other users of the machine', async () => {
    await createDirectoryObjects({ folder }).put('a', BODY, TYPE);
    const modes = [pathOf('a'), dirname(pathOf('a')), join(folder, 'unfinished')].map(async (path) => {
      const { mode } = await stat(path);
      return mode & 0o777;
    });
    expect(await Promise.all(modes)).toEqual([0o600, 0o700, 0o700]);
  });
});

/** Closes a file, and fails. */
const failAfter = (failure: Error) => async (close: () => Promise<void>) => {
  await close();
  throw failure;
};

describe('a write', () => {
  it('stores all bytes when the system writes a part at a time', async () => {
    const methods = await fileMethods();
    const { write } = methods;
    vi.spyOn(methods, 'write').mockImplementation(function (this: FileHandle, ...given: unknown[]) {
      const [buffer, at, length, position] = given as [Uint8Array, number, number, number];
      const most = position >= HEAD_BYTES ? Math.min(length, 3) : length;
      return write.apply(this, [buffer, at, most, position] as never) as never;
    });
    const objects = createDirectoryObjects({ folder });
    await objects.put('a', BODY, TYPE);
    expect(await readAll((await objects.get('a'))?.body ?? ([] as never))).toBe('0123456789');
  });

  it.each(['write', 'sync', 'close'] as const)(
    'leaves the old object when %s fails at the end',
    async (name) => {
      const objects = createDirectoryObjects({ folder });
      const old = await objects.put('a', BODY, TYPE);
      const methods = await fileMethods();
      const { write } = methods;
      const failure = new Error('the disk is full');
      if (name === 'close') vi.spyOn(closing, name).mockImplementationOnce(failAfter(failure));
      if (name === 'sync') vi.spyOn(methods, name).mockRejectedValueOnce(failure);
      if (name === 'write')
        vi.spyOn(methods, name).mockImplementation(async function (this: FileHandle, ...given: unknown[]) {
          // The header, after the body.
          if (given[3] === 0) throw failure;
          return write.apply(this, given as never) as never;
        });
      await expect(objects.put('a', Buffer.from('new'), TYPE)).rejects.toThrow('the disk is full');
      expect([await objects.head('a'), await listFiles()]).toEqual([old, [pathOf('a')]]);
    },
  );

  it('fails with the first failure when the file has its place already', async () => {
    vi.spyOn(closing, 'close')
      .mockImplementationOnce((close) => close())
      .mockImplementationOnce(failAfter(new Error('the disk is gone')));
    await expect(createDirectoryObjects({ folder }).put('a', BODY, TYPE)).rejects.toThrow('the disk is gone');
  });

  it('fails when the place is taken', async () => {
    await mkdir(join(pathOf('a'), 'inner'), { recursive: true });
    await expect(createDirectoryObjects({ folder }).put('a', BODY, TYPE)).rejects.toThrow(
      /EISDIR|ENOTEMPTY|EPERM/,
    );
    expect(await listFiles()).toEqual([]);
  });

  it('flushes the file and its entry in the folder before it ends', async () => {
    const methods = await fileMethods();
    const { sync } = methods;
    const flushed: string[] = [];
    vi.spyOn(methods, 'sync').mockImplementation(async function (this: FileHandle) {
      const isFolder = (await this.stat()).isDirectory();
      await sync.call(this);
      flushed.push(isFolder ? 'folder' : 'file');
    });
    await createDirectoryObjects({ folder }).put('a', BODY, TYPE);
    expect(flushed).toEqual(['file', 'folder']);
  });

  it('reads no more of a body that is longer than declared, or of an aborted one', async () => {
    const objects = createDirectoryObjects({ folder });
    const stopping = new AbortController();
    let parts = 0;
    async function* body(onPart: () => void) {
      for (let part = 0; part < 5; part += 1) {
        parts += 1;
        if (part === 1) onPart();
        yield Buffer.from('12');
      }
    }
    await expect(
      objects.put(
        'a',
        body(() => undefined),
        { ...TYPE, size: 3 },
      ),
    ).rejects.toThrow(RangeError);
    expect(parts).toBe(2);
    const abort = () => stopping.abort(new Error('stop'));
    await expect(objects.put('a', body(abort), TYPE, { signal: stopping.signal })).rejects.toThrow('stop');
    expect([parts, await listFiles()]).toEqual([4, []]);
  });

  it('has no effect when it is aborted before the file has its place', async () => {
    const stopping = new AbortController();
    async function* body() {
      yield BODY;
      setImmediate(() => stopping.abort(new Error('stop')));
    }
    const written = createDirectoryObjects({ folder }).put('a', body(), TYPE, { signal: stopping.signal });
    await expect(written).rejects.toThrow('stop');
    expect(await listFiles()).toEqual([]);
  });
});

it('does nothing for an aborted call', async () => {
  const objects = createDirectoryObjects({ folder });
  const signal = AbortSignal.abort(new Error('stop'));
  await expect(objects.put('a', BODY, TYPE, { signal })).rejects.toThrow('stop');
  expect(await readdir(folder)).toEqual([]);
  await objects.put('a', BODY, TYPE);
  await expect(objects.get('a', undefined, { signal })).rejects.toThrow('stop');
  await expect(objects.head('a', { signal })).rejects.toThrow('stop');
  await expect(objects.remove('a', { signal })).rejects.toThrow('stop');
  expect(await objects.head('a')).toBeDefined();
});

describe('reading', () => {
  it.each([
    [-1, 3],
    [10, 10],
    [4, 3],
  ])('refuses the range %i to %i of 10 bytes', async (start, end) => {
    const objects = createDirectoryObjects({ folder });
    await objects.put('a', BODY, TYPE);
    await expect(objects.get('a', { start, end })).rejects.toThrow(`bytes ${start}-${end} of 10`);
  });

  it('fails when the file is cut off meanwhile', async () => {
    const objects = createDirectoryObjects({ folder });
    await objects.put('a', Buffer.alloc(100_000), TYPE);
    const content = await objects.get('a');
    await truncate(pathOf('a'), HEAD_BYTES + 5);
    await expect(readAll(content?.body ?? ([] as never))).rejects.toThrow('cut off');
  });

  it('refuses a foreign file', async () => {
    const objects = createDirectoryObjects({ folder });
    await objects.put('a', BODY, TYPE);
    await writeFile(pathOf('a'), Buffer.alloc(600, 'x'));
    await expect(objects.head('a')).rejects.toThrow('the file of the object a is damaged');
  });
});

it('closes every file before a call ends', async () => {
  let closed = 0;
  vi.spyOn(closing, 'close').mockImplementation(async (close) => {
    await turn();
    await close();
    closed += 1;
  });
  const objects = createDirectoryObjects({ folder });
  const steps: number[] = [];
  const step = async (work: Promise<unknown>): Promise<void> => {
    closed = 0;
    await work.catch(() => undefined);
    steps.push(closed);
  };
  // The object and its folder.
  await step(objects.put('a', BODY, TYPE));
  await step(objects.put('b', BODY, { ...TYPE, size: 1 }));
  await step(objects.head('a'));
  await step(objects.get('a', { start: 10, end: 10 }));
  await truncate(pathOf('a'), 20);
  await step(objects.get('a'));
  expect(steps).toEqual([2, 1, 1, 1, 1]);
});

it('lets another process delete the same unfinished file', async () => {
  await mkdir(join(folder, 'unfinished'));
  await writeFile(join(folder, 'unfinished', 'old'), '');
  await utimes(join(folder, 'unfinished', 'old'), 0, 0);
  vi.spyOn(closing, 'afterStat').mockImplementation((path) => rm(path));
  await createDirectoryObjects({ folder }).put('a', BODY, TYPE);
  expect(await listFiles()).toEqual([pathOf('a')]);
});

it('tries again to create its folder after a failure', async () => {
  const taken = join(folder, 'taken');
  await writeFile(taken, '');
  const objects = createDirectoryObjects({ folder: taken });
  await expect(objects.put('a', BODY, TYPE)).rejects.toThrow(/ENOTDIR|EEXIST/);
  await rm(taken);
  await objects.put('a', BODY, TYPE);
  expect(await objects.head('a')).toBeDefined();
});

it('deletes what is unfinished for more than 24 hours', async () => {
  const now = Date.UTC(2026, 5, 1, 12);
  vi.useFakeTimers({ toFake: ['Date'], now });
  const unfinished = join(folder, 'unfinished');
  await mkdir(unfinished);
  for (const [name, age] of [
    ['day', DAY_MS],
    ['older', DAY_MS + 1000],
  ] as const) {
    await writeFile(join(unfinished, name), '');
    await utimes(join(unfinished, name), (now - age) / 1000, (now - age) / 1000);
  }
  await createDirectoryObjects({ folder }).put('a', BODY, TYPE);
  expect(await readdir(unfinished)).toEqual(['day']);
});

it('accepts a content type that the header has room for', async () => {
  const objects = createDirectoryObjects({ folder });
  const info = { size: 0, contentType: '', etag: hashOf('').slice(0, 32) };
  const room = HEAD_BYTES - `questline object 1\n${JSON.stringify(info)}`.length;
  const put = (length: number) => objects.put('a', Buffer.alloc(0), { contentType: 'x'.repeat(length) });
  await put(room);
  expect((await objects.head('a'))?.contentType).toHaveLength(room);
  await expect(put(room + 1)).rejects.toThrow('the content type of the object is too long');
});
