import { FILE_USAGE, FILES, type FileRecord } from '@questline/core/internal';
import { createMemoryObjects } from '@questline/core/memory';
import { describe, expect, it } from 'vitest';
import { createTestApp, type TestApp, type TestAppOptions } from '../support/test-app.ts';

const bytes = (length: number, fill = 7) => new Uint8Array(length).fill(fill);
const PNG = { name: 'a.png', mimeType: 'image/png' };

async function* pieces(...parts: readonly Uint8Array[]) {
  for (const part of parts) yield part;
}

async function setUp(options: TestAppOptions = {}) {
  const app = await createTestApp(options);
  const { library, store } = app.services;
  const usage = async () => (await store.collection(FILE_USAGE).get(app.user.id))?.bytes ?? 0;
  const files = () => store.collection(FILES).count({ ownerId: app.user.id });
  return { app, library, usage, files, userId: app.user.id };
}

async function shareWith(app: TestApp, file: FileRecord | undefined, userId: string): Promise<void> {
  await app.services.store.collection(FILES).update(file?.id ?? '', { readerIds: [userId] });
}

describe('generated file', () => {
  it('is a clean file of its owner that other users cannot read', async () => {
    const { app, library, userId, usage } = await setUp();
    const { file } = await library.save(userId, { ...PNG, content: bytes(10) });
    expect(file).toMatchObject({ name: 'a.png', size: 10, status: 'clean', source: 'generated' });
    const id = file?.id ?? '';
    expect(await library.read(userId, id, 10)).toEqual(Buffer.from(bytes(10)));
    expect(await library.read(userId, id, 9)).toBeUndefined();
    const other = await app.addUser('eve@example.com');
    expect(await library.get(other.id, id)).toBeUndefined();
    expect(await library.open(other.id, id)).toBeUndefined();
    await shareWith(app, file, other.id);
    expect(await library.read(other.id, id, 10)).toEqual(Buffer.from(bytes(10)));
    expect(await usage()).toBe(10);
  });

  it('may arrive in chunks', async () => {
    const { library, userId } = await setUp();
    const { file } = await library.save(userId, { ...PNG, content: pieces(bytes(3, 1), bytes(2, 2)) });
    expect(await library.read(userId, file?.id ?? '', 100)).toEqual(Buffer.from([1, 1, 1, 2, 2]));
  });

  it('is saved once under one id, however often and in parallel', async () => {
    const { library, userId, usage, files } = await setUp();
    const made = { ...PNG, content: bytes(10), id: 'f'.repeat(24) };
    const saved = await Promise.all(Array.from({ length: 8 }, () => library.save(userId, made)));
    saved.push(await library.save(userId, { ...made, content: bytes(20) }));
    expect(saved.map(({ file }) => file?.size)).toEqual(Array(9).fill(10));
    expect([await files(), await usage()]).toEqual([1, 10]);
    expect(await library.read(userId, made.id, 100)).toHaveLength(10);
  });

  it('is not saved when it is too large or storage is full', async () => {
    const objects = createMemoryObjects();
    const kept: string[] = [];
    const { library, userId, usage, files } = await setUp({
      objects: {
        ...objects,
        put: (key, ...rest) => {
          kept.push(key);
          return objects.put(key, ...rest);
        },
      },
      settings: { files: { storageQuota: 25 }, admin: { MaxFileSize: 20 } },
    });
    const save = (content: Parameters<typeof library.save>[1]['content']) =>
      library.save(userId, { ...PNG, content });
    expect(await save(bytes(21))).toEqual({ skipped: 'file_too_large' });
    expect(await save(pieces(bytes(20), bytes(1)))).toEqual({ skipped: 'file_too_large' });
    expect((await save(bytes(20))).skipped).toBeUndefined();
    expect(await save(bytes(6))).toEqual({ skipped: 'storage_limit' });
    expect((await save(bytes(5))).skipped).toBeUndefined();
    expect([await files(), await usage()]).toEqual([2, 25]);
    const left = await Promise.all(kept.map((key) => objects.head(key)));
    expect(left.filter((info) => info !== undefined)).toHaveLength(2);
  });

  it('leaves nothing when its stream breaks off and reports it only to the host', async () => {
    const { app, library, userId, files, usage } = await setUp();
    const broken = async function* () {
      yield bytes(3);
      throw new Error('the provider hung up');
    };
    expect(await library.save(userId, { ...PNG, content: broken() })).toEqual({ skipped: 'error' });
    expect([await files(), await usage()]).toEqual([0, 0]);
    expect(app.incidents.map(({ operation }) => operation)).toEqual(['files.save']);
  });

  it('is saved until storage is full when many are saved in parallel', async () => {
    const { library, userId, usage, files } = await setUp({ settings: { files: { storageQuota: 100 } } });
    const saves = Array.from({ length: 15 }, () => library.save(userId, { ...PNG, content: bytes(10) }));
    const outcomes = await Promise.all(saves);
    expect(outcomes.filter(({ skipped }) => skipped === 'storage_limit')).toHaveLength(5);
    expect([await files(), await usage()]).toEqual([10, 100]);
  });
});
