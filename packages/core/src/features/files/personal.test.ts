import { describe, expect, it } from 'vitest';
import { createMemoryObjects } from '../../memory/objects.ts';
import { createMemoryStore } from '../../memory/store.ts';
import type { DeletionCleanup } from '../../operations/deletion.ts';
import type { Collection } from '../../ports/store.ts';
import { personalFiles } from './personal.ts';
import { FILES, type FileRecord } from './records.ts';
import { quarantineKey } from './uploads.ts';

const ID = 'a'.repeat(24);
const KEY = `files/${ID}/1`;
const LATER = `files/${ID}/2`;
const TEXT = { name: 'a.txt', mimeType: 'text/plain', size: 5, source: 'upload', createdAt: 3 } as const;

/** The file of a user, and an object store that runs `before` before each removal. */
async function setUp(about: Partial<FileRecord>, before: (files: Collection<FileRecord>) => Promise<void>) {
  const store = createMemoryStore();
  const files = store.collection(FILES);
  const objects = createMemoryObjects();
  await files.insert({ id: ID, ownerId: 'ada', status: 'clean', ...TEXT, ...about });
  const keys = [KEY, LATER, quarantineKey(ID)];
  for (const key of keys) await objects.put(key, Buffer.from('hello'), { contentType: 'text/plain' });
  const cleaned: string[] = [];
  const { erase = [] } = personalFiles({
    store,
    objects: {
      ...objects,
      async remove(key) {
        await before(files);
        return objects.remove(key);
      },
    },
    deletion: { file: async (id) => void cleaned.push(id) } as Partial<DeletionCleanup> as DeletionCleanup,
  });
  return {
    files,
    cleaned,
    /** What `forgetUser` does with the records that it finds. */
    async eraseFound(): Promise<void> {
      for (const record of await files.find({ ownerId: 'ada' })) {
        for (const one of erase) await one.erase({ ...record }, 'ada');
      }
    },
    getLeft: async () => {
      const left = await Promise.all(keys.map(async (key) => ((await objects.head(key)) ? [key] : [])));
      return left.flat();
    },
  };
}

describe('erasure of a file of a user', () => {
  it.each([0, 1, 2])('is complete when it is repeated after removal %i of its bytes failed', async (at) => {
    let removals = 0;
    const set = await setUp({ objectKey: KEY }, async () => {
      removals += 1;
      if (removals === at) throw new Error('the object store is down');
    });
    if (at === 0) await set.eraseFound();
    else await expect(set.eraseFound()).rejects.toThrow('the object store is down');
    await set.eraseFound();
    expect([await set.getLeft(), await set.files.count({}), set.cleaned]).toEqual([[LATER], 0, [ID]]);
  });

  it('removes the bytes that a check has stored meanwhile', async () => {
    const set = await setUp({ status: 'scanning' }, async (files) => {
      await files.update(ID, { status: 'clean', objectKey: LATER });
    });
    await set.eraseFound();
    expect([await set.getLeft(), await set.files.count({})]).toEqual([[KEY], 0]);
  });
});
