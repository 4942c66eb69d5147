import { mkdir, readdir, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import {
  BODY,
  closing,
  folder,
  getHash,
  listFiles,
  readAll,
  TYPE,
  toPath,
  watchFiles,
} from '../../test/watched-objects.ts';
import { HEAD_BYTES } from './format.ts';
import { createDirectoryObjects } from './objects.ts';

watchFiles();

const DAY_MS = 86_400_000;

describe('place of an object', () => {
  it.each(['a', 'a/b', 'x'.repeat(200)])('stays the same for later versions: %s', async (key) => {
    const info = await createDirectoryObjects({ folder }).put(key, BODY, TYPE);
    expect(await listFiles()).toEqual([toPath(key)]);
    expect(info).toEqual({ key, size: 10, contentType: 'text/plain', etag: getHash(BODY).slice(0, 32) });
  });

  it('is named by a hash for a long key', async () => {
    const key = 'x'.repeat(201);
    await createDirectoryObjects({ folder }).put(key, BODY, TYPE);
    expect(await listFiles()).toEqual([join(folder, getHash(key).slice(0, 2), getHash(key))]);
  });

  it('is not found or deleted by a key of another form', async () => {
    const words = Array.from({ length: 5000 }, (_, at) => `w${at}`);
    const word = words.find((one) => toPath(`a/${one}`) === toPath(`a.${one}`));
    const objects = createDirectoryObjects({ folder });
    await objects.put(`a/${word}`, BODY, TYPE);
    expect([await objects.head(`a.${word}`), await objects.get(`a.${word}`)]).toEqual([undefined, undefined]);
    await objects.remove(`a.${word}`);
    expect(await objects.head(`a/${word}`)).toBeDefined();
  });

  it.runIf(process.platform !== 'win32')('is closed to other users of the machine', async () => {
    await createDirectoryObjects({ folder }).put('a', BODY, TYPE);
    const modes = [toPath('a'), dirname(toPath('a')), join(folder, 'unfinished')].map(async (path) => {
      const { mode } = await stat(path);
      return mode & 0o777;
    });
    expect(await Promise.all(modes)).toEqual([0o600, 0o700, 0o700]);
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
    await truncate(toPath('a'), HEAD_BYTES + 5);
    await expect(readAll(content?.body ?? ([] as never))).rejects.toThrow('cut off');
  });

  it('refuses a foreign file', async () => {
    const objects = createDirectoryObjects({ folder });
    await objects.put('a', BODY, TYPE);
    await writeFile(toPath('a'), Buffer.alloc(600, 'x'));
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
  await truncate(toPath('a'), 20);
  await step(objects.get('a'));
  expect(steps).toEqual([2, 1, 1, 1, 1]);
});

it('lets another process delete the same unfinished file', async () => {
  await mkdir(join(folder, 'unfinished'));
  await writeFile(join(folder, 'unfinished', 'old'), '');
  await utimes(join(folder, 'unfinished', 'old'), 0, 0);
  vi.spyOn(closing, 'afterStat').mockImplementation((path) => rm(path));
  await createDirectoryObjects({ folder }).put('a', BODY, TYPE);
  expect(await listFiles()).toEqual([toPath('a')]);
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
  const info = { size: 0, contentType: '', etag: getHash('').slice(0, 32) };
  const room = HEAD_BYTES - `questline object 1\n${JSON.stringify(info)}`.length;
  const put = (length: number) => objects.put('a', Buffer.alloc(0), { contentType: 'x'.repeat(length) });
  await put(room);
  expect((await objects.head('a'))?.contentType).toHaveLength(room);
  await expect(put(room + 1)).rejects.toThrow('the content type of the object is too long');
});
