import { describe, expect, it } from 'vitest';
import { ID, MADE, send, setUp } from '../../../test/file-library.ts';
import type { ObjectStore } from '../../ports/objects.ts';
import type { FileRecord } from './records.ts';

describe('a file of the library', () => {
  it('is read by its users, and by no others', async () => {
    const { files, library } = setUp();
    await library.save('ada', MADE);
    const read = async (userId: string, id = ID, limit = 5) =>
      (await library.read(userId, id, limit))?.toString();
    expect(await read('ada')).toBe('hello');
    expect(await read('ada', ID, 4)).toBeUndefined();
    expect((await library.get('ada', ID))?.id).toBe(ID);
    for (const id of ['../1', '0'.repeat(24)]) {
      expect([await library.get('ada', id), await read('ada', id), await library.open('ada', id)]).toEqual([
        ...[undefined, undefined, undefined],
      ]);
    }
    expect([await read('bob'), await library.open('bob', ID)]).toEqual([undefined, undefined]);
    await files.update(ID, { readerIds: ['bob'] });
    expect(await read('bob')).toBe('hello');
    await files.update(ID, { status: 'blocked' });
    expect([await library.get('ada', ID), await read('ada')]).toEqual([undefined, undefined]);
  });

  it('is read in one piece from several', async () => {
    const { library } = setUp();
    await library.save('ada', { ...MADE, content: send(2, 3) });
    const parts: Uint8Array[] = [];
    for await (const part of (await library.open('ada', ID))?.body ?? []) parts.push(part);
    expect(Buffer.concat(parts)).toEqual(Buffer.alloc(5));
    expect(await library.read('ada', ID, 5)).toEqual(Buffer.alloc(5));
    const file = (await library.get('ada', ID)) as FileRecord;
    expect(await library.readFound(file, 5)).toEqual(Buffer.alloc(5));
    expect(await library.readFound(file, 4)).toBeUndefined();
  });

  it('has no bytes without a copy, or if the copy is gone', async () => {
    const { files, keys, objects, library } = setUp();
    await library.save('ada', MADE);
    for (const key of keys) await objects.remove(key);
    expect(await library.read('ada', ID, 5)).toBeUndefined();
    await files.update(ID, { objectKey: undefined } as never);
    expect(await library.read('ada', ID, 5)).toBeUndefined();
  });

  it('is found with others in one call', async () => {
    let finds = 0;
    const { files, library } = setUp({
      files: (records) => ({
        find(...given) {
          finds += 1;
          return records.find(...given);
        },
      }),
    });
    await library.save('ada', MADE);
    await library.save('ada', { ...MADE, id: 'e'.repeat(24) });
    const find = async (userId: string, ...ids: string[]) => [...(await library.getAll(userId, ids)).keys()];
    expect(await find('ada', ID, '../1', '0'.repeat(24))).toEqual([ID]);
    expect(await find('bob', ID)).toEqual([]);
    expect(finds).toBe(2);
    expect(await find('ada', '../1')).toEqual([]);
    expect(finds).toBe(2);
    await files.update(ID, { status: 'scanning' });
    expect(await find('ada', ID)).toEqual([]);
  });

  it('passes options on', async () => {
    const options = { signal: new AbortController().signal };
    const given: unknown[] = [];
    const { library } = setUp({
      change: (objects) => ({
        get(key, range, passed) {
          given.push(range, passed);
          return objects.get(key, range, passed);
        },
      }),
    });
    await library.save('ada', MADE);
    await library.read('ada', ID, 5, options);
    await library.open('ada', ID, options);
    expect(given).toEqual([undefined, options, undefined, options]);
  });
});

describe('a link to a file', () => {
  const link = async (about: Partial<FileRecord>, change: Partial<ObjectStore> = {}) => {
    const { clock, library } = setUp({ change: () => change });
    const file = (await library.save('ada', { ...MADE, mimeType: 'image/png' })).file as FileRecord;
    const made = await library.link({ ...file, ...about }, '/mounted');
    const url = new URL(made?.url ?? '', 'http://questline.test');
    expect(Number(url.searchParams.get('expires') ?? made?.expiresAt ?? 0)).toBe(made?.expiresAt ?? 0);
    const [type, attachment] = [url.searchParams.get('type'), url.searchParams.get('attachment')];
    return { made, passed: (made?.expiresAt ?? 0) - clock.now(), path: url.pathname, type, attachment };
  };

  it('is valid for 15 minutes, and shows what is safe', async () => {
    const about = { passed: 900_000, path: '/mounted/api/v1/objects' };
    expect(await link({})).toMatchObject({ ...about, type: 'image/png', attachment: null });
    const page = { ...about, type: 'text/html', attachment: 'a.txt' };
    expect(await link({ mimeType: 'text/html' })).toMatchObject(page);
  });

  it('is absent for a file that is not clean, has no copy, or cannot be signed', async () => {
    expect((await link({ status: 'blocked' })).made).toBeUndefined();
    expect((await link({ objectKey: undefined as never })).made).toBeUndefined();
    expect((await link({}, { signGet: async () => undefined })).made).toBeUndefined();
    expect((await link({}, { signGet: async () => 'https://a.b' })).made).toMatchObject({
      url: 'https://a.b',
    });
  });
});
