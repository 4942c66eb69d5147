import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { delayed } from '../../../test/delayed.ts';
import { createMemoryObjects } from '../../memory/objects.ts';
import { createMemoryQueue } from '../../memory/queue.ts';
import { createMemoryStore } from '../../memory/store.ts';
import type { DeletionCleanup } from '../../operations/deletion.ts';
import { removeFile, takeFile } from './handlers.ts';
import { personalFiles } from './personal.ts';
import { createFilePurgeHandler, purgeFileJob } from './purge.ts';
import { FILE_USAGE, FILES, type FileRecord } from './records.ts';
import { fileRetention } from './retention.ts';

const ID = 'a'.repeat(24);
const KEY = `files/${ID}/1`;

async function setUp(about: Partial<FileRecord> = {}) {
  const store = createMemoryStore();
  const objects = createMemoryObjects();
  const queue = createMemoryQueue({ clock: createFakeClock(), ids: createFakeIds() });
  const files = store.collection(FILES);
  const text = { name: 'a.txt', mimeType: 'text/plain', size: 5, source: 'upload', createdAt: 3 } as const;
  const file: FileRecord = { id: ID, ownerId: 'ada', status: 'clean', objectKey: KEY, ...text, ...about };
  await files.insert(file);
  await store.collection(FILE_USAGE).insert({ id: 'ada', bytes: 5 });
  for (const key of [KEY, `uploads/${ID}`])
    await objects.put(key, Buffer.from('hello'), { contentType: 'a/b' });
  const services = { store: delayed(store), objects: delayed(objects), queue: delayed(queue) };
  const lease = () => queue.lease({ kinds: ['files.purge'], limit: 9, leaseMs: 1 });
  const countBytes = async () => (await store.collection(FILE_USAGE).get('ada'))?.bytes;
  const countObjects = async () =>
    (await Promise.all([KEY, `uploads/${ID}`].map((key) => objects.head(key)))).filter(Boolean).length;
  const cleaned: string[] = [];
  const deletion = delayed({
    file: async (id: string) => void cleaned.push(id),
  } as unknown as DeletionCleanup);
  return { services, files, file, lease, countBytes, countObjects, cleaned, deletion };
}

const NOT_FOUND = { status: 404, message: 'File not found' };

describe('a deleted file', () => {
  it('leaves a job that deletes its bytes', async () => {
    const { services, files, lease, countBytes, countObjects } = await setUp();
    await removeFile(services, ID, 'ada');
    expect([await files.count({}), await countBytes(), await countObjects()]).toEqual([0, 0, 2]);
    const key = `purge-file:${ID}`;
    expect(await lease()).toMatchObject([{ key, owner: 'ada', payload: { fileId: ID, objectKey: KEY } }]);
    await expect(removeFile(services, ID, 'ada')).rejects.toMatchObject(NOT_FOUND);
  });

  it('that was blocked has given its room back before', async () => {
    const { services, countBytes } = await setUp({ status: 'blocked' });
    await removeFile(services, ID, 'ada');
    expect(await countBytes()).toBe(5);
  });

  it('stays if it is in use, or another than meant', async () => {
    const { services, files, file, countBytes } = await setUp();
    expect(await takeFile(services, file, { isInUse: async () => true })).toBeUndefined();
    expect(await takeFile(services, file, { guard: { status: 'blocked' } })).toBeUndefined();
    expect(await takeFile(services, { ...file, ownerId: 'bob' })).toBeUndefined();
    expect([await files.count({}), await countBytes()]).toEqual([1, 5]);
    expect(await takeFile(services, file, { isInUse: async () => false })).toEqual(file);
  });

  it('loses the copy that became clean at the same moment', async () => {
    const { services, files, file, countObjects } = await setUp();
    const { objectKey: _, ...before } = file;
    const records = { ...files, get: async () => before };
    const store = { ...services.store, collection: () => records as never };
    await removeFile({ ...services, store }, ID, 'ada');
    expect([await files.count({}), await countObjects()]).toEqual([0, 1]);
  });

  it('is left by its readers and writers, and stays for others', async () => {
    const { services, files, countBytes } = await setUp({ readerIds: ['bob', 'cy'], writerIds: ['bob'] });
    await expect(removeFile(services, ID, 'dan')).rejects.toMatchObject(NOT_FOUND);
    await removeFile(services, ID, 'bob');
    expect(await files.get(ID)).toMatchObject({ readerIds: ['cy'], writerIds: [] });
    await removeFile(services, ID, 'cy');
    expect(await files.get(ID)).toMatchObject({ readerIds: [], writerIds: [] });
    expect(await countBytes()).toBe(5);
  });

  it('is not found if it goes while its owner deletes it', async () => {
    const { services, files } = await setUp();
    const { transaction } = services.store;
    const store = {
      ...services.store,
      async transaction(...given: Parameters<typeof transaction>) {
        await files.take(ID);
        return transaction(...given);
      },
    };
    await expect(removeFile({ ...services, store } as never, ID, 'ada')).rejects.toMatchObject(NOT_FOUND);
  });
});

describe('the job after a deletion', () => {
  const run = async (attempt: number, about: Partial<FileRecord> = {}, isDeleted = true) => {
    const set = await setUp(about);
    if (isDeleted) await set.files.take(ID);
    const { services, deletion, file } = set;
    const handler = createFilePurgeHandler({ ...services, deletion });
    const job = { ...purgeFileJob(file), attempt } as never;
    expect([handler.kind, handler.concurrency]).toEqual(['files.purge', 2]);
    return { ...set, back: await handler.run(job, new AbortController().signal, async () => undefined) };
  };

  it('deletes the bytes and what names the file', async () => {
    const { back, cleaned, countObjects } = await run(1);
    expect([back, cleaned, await countObjects()]).toEqual([undefined, [ID], 0]);
  });

  it('knows files without a copy', async () => {
    const { back, cleaned, countObjects } = await run(1, { objectKey: undefined as never });
    expect([back, cleaned, await countObjects()]).toEqual([undefined, [ID], 1]);
  });

  it('waits for the deletion, and ends without one', async () => {
    const { back, cleaned, countObjects } = await run(1, {}, false);
    expect(back).toEqual({ afterMs: 1000, countAttempt: true });
    expect([cleaned, await countObjects()]).toEqual([[], 2]);
    expect((await run(3, {}, false)).back).toBeUndefined();
  });
});

describe('the end of an account', () => {
  it('deletes files with their bytes, what names them, and the sum of their sizes', async () => {
    const { services, files, cleaned, deletion, countBytes, countObjects } = await setUp();
    const { erase, eraseTraces } = personalFiles({ ...services, deletion });
    expect(erase?.[0]?.shape).toBe(FILES);
    for (let time = 0; time < 2; time += 1) await erase?.[0]?.erase({ id: ID }, 'ada');
    expect([await files.count({}), await countObjects(), cleaned]).toEqual([0, 0, [ID, ID]]);
    expect(await eraseTraces?.('ada', new Set())).toBeUndefined();
    expect(await countBytes()).toBeUndefined();
  });
});

describe('the deletion by age', () => {
  const remove = async (about: Partial<FileRecord> = {}, before = 4, isInUse = false) => {
    const { services, files } = await setUp(about);
    const { kind, byAge } = fileRetention(services);
    if (byAge === undefined || !('find' in byAge)) throw new Error('no list');
    const listed = (await byAge.find(before, 9, undefined)).map(({ id }) => id);
    const isRemoved = await byAge.remove(ID, { before, isInUse: async () => isInUse });
    return { kind, listed, isRemoved, left: await files.count({}) };
  };

  it.each(['clean', 'blocked'] as const)('takes older files that are %s', async (status) => {
    expect(await remove({ status })).toEqual({ kind: 'files', listed: [ID], isRemoved: true, left: 0 });
  });

  it.each(['pending', 'scanning'] as const)('takes no file that is %s', async (status) => {
    expect(await remove({ status })).toMatchObject({ listed: [], isRemoved: false, left: 1 });
  });

  it('takes no younger file, and none in use', async () => {
    expect(await remove({}, 3)).toMatchObject({ listed: [], isRemoved: false, left: 1 });
    expect(await remove({}, 4, true)).toMatchObject({ listed: [ID], isRemoved: false, left: 1 });
  });
});
