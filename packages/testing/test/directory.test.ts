import { mkdtemp, readdir, readFile, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDirectoryObjects } from '@questline/core/directory';
import { createFakeClock, fakeTime, objectsSuite } from '@questline/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { servedObjects } from '../../../test/support/objects.ts';

const folders: string[] = [];

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'questline-objects-'));
  folders.push(folder);
  return folder;
}

afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

objectsSuite({
  name: 'in a folder',
  create: async () => {
    const clock = createFakeClock();
    const objects = createDirectoryObjects({ folder: join(await newFolder(), 'objects') });
    return { ...servedObjects(objects, clock), time: fakeTime(clock) };
  },
});

const TYPE = { contentType: 'text/plain' };

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}

describe('folder of objects', () => {
  it('is readable by another process', async () => {
    const folder = await newFolder();
    const info = await createDirectoryObjects({ folder }).put('a/b', Buffer.from('hello'), TYPE);
    expect(await createDirectoryObjects({ folder }).head('a/b')).toEqual(info);
  });

  it('contains one file per object and nothing else after a write', async () => {
    const folder = await newFolder();
    const objects = createDirectoryObjects({ folder });
    await objects.put('a', Buffer.from('1'), TYPE);
    await objects.put('a/b', Buffer.from('22'), TYPE);
    await objects.put(`long/${'x'.repeat(400)}`, Buffer.from('333'), TYPE);
    expect(await filesIn(folder)).toHaveLength(3);
    expect((await objects.head('a'))?.size).toBe(1);
    expect((await objects.head(`long/${'x'.repeat(400)}`))?.size).toBe(3);
    async function* broken() {
      yield Buffer.from('4');
      throw new Error('the uploader disconnected');
    }
    await expect(objects.put('a/c', broken(), TYPE)).rejects.toThrow('disconnected');
    await expect(objects.put('a/c', Buffer.from('55'), { ...TYPE, size: 1 })).rejects.toThrow(RangeError);
    expect(await filesIn(folder)).toHaveLength(3);
  });

  it('removes the remains of a killed process, and keeps objects that another one is writing', async () => {
    const folder = await newFolder();
    await createDirectoryObjects({ folder }).put('a', Buffer.from('1'), TYPE);
    const [old, fresh] = [join(folder, 'unfinished', 'old'), join(folder, 'unfinished', 'fresh')];
    await writeFile(old, 'x');
    await writeFile(fresh, 'x');
    await utimes(old, 0, 0);
    await createDirectoryObjects({ folder }).put('b', Buffer.from('1'), TYPE);
    expect(await readdir(join(folder, 'unfinished'))).toEqual(['fresh']);
  });

  it('never returns a part of an object as the complete object', async () => {
    const folder = await newFolder();
    const objects = createDirectoryObjects({ folder });
    await objects.put('a', Buffer.from('hello'), TYPE);
    const [path = ''] = await filesIn(folder);
    await truncate(path, (await readFile(path)).length - 1);
    await expect(objects.get('a')).rejects.toThrow('damaged');
    await expect(objects.head('a')).rejects.toThrow('damaged');
  });

  it('keeps an object while it is read, also when it is replaced or removed', async () => {
    const objects = createDirectoryObjects({ folder: await newFolder() });
    await objects.put('a', Buffer.alloc(200_000, 1), TYPE);
    const content = await objects.get('a');
    await objects.put('a', Buffer.alloc(100, 2), TYPE);
    await objects.remove('a');
    let length = 0;
    for await (const part of content?.body ?? []) length += part.filter((byte) => byte === 1).length;
    expect(length).toBe(200_000);
  });
});
