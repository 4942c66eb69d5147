import type { Clock } from '../../ports/clock.ts';
import type { JobQueue } from '../../ports/queue.ts';
import type { Store } from '../../ports/store.ts';
import { giveStorageBack } from '../storage/usage.ts';
import { forgetFileJob } from './purge.ts';
import { LAKE_FILES, LAKES, type LakeFileRecord, type LakeRecord } from './records.ts';

const BATCH = 200;

export interface RemoveFileServices {
  readonly store: Store;
  readonly queue: JobQueue;
  readonly clock: Clock;
}

/**
 * Removes a file from its lake. No search returns it from here on; a job deletes its index entries.
 * @returns the updated lake, undefined when it is deleted.
 */
export async function removeFile(
  { store, queue, clock }: RemoveFileServices,
  { id, lakeId, addedBy }: LakeFileRecord,
): Promise<LakeRecord | undefined> {
  // The job is enqueued first: the index entries must be deleted even if this process crashes in between.
  await queue.enqueue(forgetFileJob({ id, lakeId, addedBy }, clock.now()));
  return store.transaction(async (inside) => {
    const lakes = inside.collection(LAKES);
    const taken = await inside.collection(LAKE_FILES).take(id, { lakeId });
    if (taken === undefined) return lakes.get(lakeId);
    if (taken.countedTo !== undefined) {
      await giveStorageBack(inside, { ownerId: taken.countedTo, kind: 'lakes', bytes: taken.size });
    }
    await lakes.add(lakeId, { fileCount: -1, totalSize: -taken.size });
    return lakes.update(lakeId, { updatedAt: clock.now() });
  });
}

/** Removes a deleted file from every lake. Safe to repeat. */
export async function removeFromLakes(services: RemoveFileServices, fileId: string): Promise<void> {
  const files = services.store.collection(LAKE_FILES);
  for (;;) {
    const batch = await files.find({ fileId }, { limit: BATCH });
    for (const known of batch) await removeFile(services, known);
    if (batch.length < BATCH) return;
  }
}
