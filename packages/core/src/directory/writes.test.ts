import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import {
  BODY,
  closing,
  folder,
  listFiles,
  readAll,
  TYPE,
  toPath,
  watchFiles,
} from '../../test/watched-objects.ts';
import { HEAD_BYTES } from './format.ts';
import { createDirectoryObjects } from './objects.ts';

watchFiles();

/** The methods of all open files, to watch them or to let them fail. */
async function fileMethods(): Promise<FileHandle> {
  const file = await open(folder, 'r');
  await file.close();
  return Object.getPrototypeOf(file) as FileHandle;
}

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
      expect([await objects.head('a'), await listFiles()]).toEqual([old, [toPath('a')]]);
    },
  );

  it('fails with the first failure when the file has its place already', async () => {
    vi.spyOn(closing, 'close')
      .mockImplementationOnce((close) => close())
      .mockImplementationOnce(failAfter(new Error('the disk is gone')));
    await expect(createDirectoryObjects({ folder }).put('a', BODY, TYPE)).rejects.toThrow('the disk is gone');
  });

  it('fails when the place is taken', async () => {
    await mkdir(join(toPath('a'), 'inner'), { recursive: true });
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
