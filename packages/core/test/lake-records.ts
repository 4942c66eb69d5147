import { createFakeClock, createFakeIds } from '@questline/testing';
import {
  LAKE_FILES,
  LAKES,
  type LakeFileRecord,
  type LakeRecord,
} from '../src/features/data-lakes/records.ts';
import { STORAGE_USAGE, takeStorage } from '../src/features/storage/usage.ts';
import { createMemoryQueue } from '../src/memory/queue.ts';
import { createMemoryStore } from '../src/memory/store.ts';
import { createMemoryVectors } from '../src/memory/vectors.ts';
import type { DeletionCleanup } from '../src/operations/deletion.ts';
import { delayed } from './delayed.ts';
import { LAKE, makeLake, makeLakeFile } from './lakes.ts';

const KINDS = ['data-lakes.ingest', 'data-lakes.forget-file', 'data-lakes.purge'];

/** Lakes, files in them, and one chunk of each file. Each file takes five bytes of ada's storage. */
export async function openLakeRecords(
  lakeRecords: readonly Partial<LakeRecord>[],
  fileRecords: readonly Partial<LakeFileRecord>[],
) {
  const clock = createFakeClock();
  const store = createMemoryStore();
  const queue = createMemoryQueue({ clock, ids: createFakeIds() });
  const vectors = createMemoryVectors();
  const lakes = store.collection(LAKES);
  const files = store.collection(LAKE_FILES);
  for (const more of lakeRecords) await lakes.insert(makeLake({ slug: more.id ?? 'papers', ...more }));
  for (const more of fileRecords) {
    const file = makeLakeFile(more);
    await files.insert(file);
    const quotas = { artifacts: 1000, sessions: 1000, lakes: 100_000 };
    await takeStorage(store, { ownerId: 'ada', kind: 'lakes', bytes: 5 }, quotas);
    const chunk = {
      id: file.id,
      lakeId: file.lakeId,
      fileId: file.id,
      place: 0,
      text: 'x',
      tags: [],
      words: [],
    };
    await vectors.upsert([{ ...chunk, vector: [1] }]);
  }
  const cleaned: string[] = [];
  const deletion = delayed(
    {
      dataLake: async (id: string) => void cleaned.push(id),
    } as unknown as DeletionCleanup,
    12,
  );
  const services = {
    store: delayed(store),
    queue: delayed(queue, 5),
    vectors: delayed(vectors, 8),
    clock,
    deletion,
  };
  const lease = async () => {
    const jobs = await queue.lease({ kinds: KINDS, limit: 999, leaseMs: 1000 });
    return jobs.map(({ key, owner, payload }) => ({ key, owner, payload }));
  };
  const countBytes = async () =>
    (await store.collection(STORAGE_USAGE).find({})).reduce((sum, { bytes }) => sum + bytes, 0);
  const countChunks = (lakeId = LAKE, fileId?: string) =>
    vectors.count({ lakeId, ...(fileId !== undefined && { fileId }) });
  return { clock, services, lakes, files, lease, cleaned, countBytes, countChunks };
}
