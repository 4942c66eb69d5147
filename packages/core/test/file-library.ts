import { createFakeClock, createFakeIds } from '@questline/testing';
import { createFileLibrary, type GeneratedFile } from '../src/features/files/library.ts';
import { createObjectLinks } from '../src/features/files/objects-links.ts';
import { FILE_USAGE, FILES, type FileRecord } from '../src/features/files/records.ts';
import { createMemoryObjects } from '../src/memory/objects.ts';
import { createMemoryQueue } from '../src/memory/queue.ts';
import { createMemoryStore } from '../src/memory/store.ts';
import type { AdminSettingsReader } from '../src/operations/admin-settings.ts';
import type { Moderator } from '../src/ports/moderator.ts';
import type { ObjectStore } from '../src/ports/objects.ts';
import type { Collection, Store } from '../src/ports/store.ts';
import type { Incident } from '../src/shared/incident.ts';
import { delayed } from './delayed.ts';

export const ID = 'f'.repeat(24);
const HELLO = Buffer.from('hello');
export const MADE: GeneratedFile = { name: 'a.txt', mimeType: 'text/plain', content: HELLO, id: ID };
export const moderator: Moderator = { check: async () => ({ isClean: true }) };

interface Options {
  readonly moderator?: Moderator | null;
  readonly quota?: number;
  readonly change?: (objects: ObjectStore) => Partial<ObjectStore>;
  readonly files?: (files: Collection<FileRecord>) => Partial<Collection<FileRecord>>;
}

export function setUp({ change, files: changeFiles, quota = 20, ...options }: Options = {}) {
  const clock = createFakeClock();
  const ids = createFakeIds();
  const memory = createMemoryStore();
  const files = memory.collection(FILES);
  const open =
    (store: Pick<Store, 'collection'>): Store['collection'] =>
    (definition) => {
      const records = store.collection(definition);
      if ((definition.name as string) !== 'files') return records;
      return { ...records, ...changeFiles?.(records as never) } as never;
    };
  const store = {
    ...memory,
    collection: open(memory),
    transaction: (work: (inside: Store) => Promise<unknown>) =>
      memory.transaction((inside) => work({ ...inside, collection: open(inside) } as never)),
  } as unknown as Store;
  const kept = createMemoryObjects();
  const keys = new Set<string>();
  const objects: ObjectStore = {
    ...kept,
    async put(key, ...given) {
      keys.add(key);
      return kept.put(key, ...given);
    },
    async remove(key) {
      keys.delete(key);
      await kept.remove(key);
    },
    ...change?.(kept),
  };
  const queue = createMemoryQueue({ clock, ids });
  const incidents: Incident[] = [];
  const library = createFileLibrary({
    ...{ store: delayed(store), queue: delayed(queue), objects: delayed(objects) },
    ...{ moderator: null, clock, ids, storageQuota: quota, ...options },
    adminSettings: { current: async () => ({ MaxFileSize: 10 }) } as unknown as AdminSettingsReader,
    objectLinks: createObjectLinks({ objects, secret: Buffer.alloc(32), publicUrl: undefined }),
    onError: (incident) => incidents.push(incident),
  });
  const countBytes = async () => (await memory.collection(FILE_USAGE).get('ada'))?.bytes ?? 0;
  /** Takes the jobs out. */
  const lease = async () => {
    const jobs = await queue.lease({ kinds: ['files.scan'], limit: 9, leaseMs: 1000 });
    for (const job of jobs) await queue.finish(job);
    return jobs;
  };
  return { clock, files, objects, keys, library, incidents, countBytes, lease };
}

export async function* send(...sizes: readonly number[]) {
  for (const size of sizes) yield new Uint8Array(size);
}
