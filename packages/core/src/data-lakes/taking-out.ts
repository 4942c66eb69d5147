import type { Clock } from '../ports/clock.ts';
import type { JobQueue } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';
import { forgetFileJob } from './purge.ts';
import { LAKE_FILES, LAKES, type LakeFileRecord, type LakeRecord } from './records.ts';

const BATCH = 200;

export interface TakeOutServices {
  readonly store: Store;
  readonly queue: JobQueue;
  readonly clock: Clock;
}

/**
 * Takes a file out of its lake. No search shows it from here on; what the index holds of it is cleared away by a job.
 * @returns the lake as it is now, undefined when it is gone.
 */
export async function takeOut(
  { store, queue, clock }: TakeOutServices,
  { id, lakeId }: LakeFileRecord,
): Promise<LakeRecord | undefined> {
  // Written down first: what the index holds must go even when this process ends in between.
  await queue.enqueue(forgetFileJob({ id, lakeId }, clock.now()));
  return store.transaction(async (inside) => {
    const lakes = inside.collection(LAKES);
    const taken = await inside.collection(LAKE_FILES).take(id, { lakeId });
    if (taken === undefined) return lakes.get(lakeId);
    await lakes.add(lakeId, { fileCount: -1, totalSize: -taken.size });
    return lakes.update(lakeId, { updatedAt: clock.now() });
  });
}

/** The file is gone: no lake holds it any more. May be repeated. */
export async function removeFromLakes(services: TakeOutServices, fileId: string): Promise<void> {
  const files = services.store.collection(LAKE_FILES);
  for (;;) {
    const batch = await files.find({ fileId }, { limit: BATCH });
    for (const known of batch) await takeOut(services, known);
    if (batch.length < BATCH) return;
  }
}
