import type { JobHandler } from '../../jobs/handler.ts';
import { retryAfterDelay } from '../../jobs/retry-after-delay.ts';
import type { DeletionCleanup } from '../../operations/deletion.ts';
import type { NewJob } from '../../ports/queue.ts';
import type { Store } from '../../ports/store.ts';
import type { VectorIndex } from '../../ports/vectors.ts';
import { giveStorageBack } from '../storage/usage.ts';
import { LAKE_FILES, LAKES, type LakeFileRecord, type LakeRecord } from './records.ts';

const FORGET = 'data-lakes.forget-file';
const PURGE = 'data-lakes.purge';
const BATCH = 200;

/** Deletes the index entries of a file that is removed from its lake. */
export function forgetFileJob(
  { id, lakeId, addedBy: owner }: Pick<LakeFileRecord, 'id' | 'lakeId' | 'addedBy'>,
  runAt: number,
): NewJob {
  return { kind: FORGET, key: `${FORGET}:${id}`, owner, payload: { id, lakeId }, runAt };
}

/** Cleans up a lake in deletion. */
export function lakePurgeJob({ id, ownerId: owner }: Pick<LakeRecord, 'id' | 'ownerId'>): NewJob {
  return { kind: PURGE, key: `${PURGE}:${id}`, owner, payload: { lakeId: id } };
}

export interface PurgeServices {
  readonly store: Store;
  readonly vectors: VectorIndex;
}

export interface LakePurgeServices extends PurgeServices {
  readonly deletion: DeletionCleanup;
}

export function createForgetFileHandler({ store, vectors }: PurgeServices): JobHandler {
  const files = store.collection(LAKE_FILES);
  return {
    kind: FORGET,
    concurrency: 2,
    async run(job) {
      const { id, lakeId } = job.payload as { id: string; lakeId: string };
      if ((await files.get(id)) !== undefined) {
        // The removal has not happened yet, or has failed.
        return retryAfterDelay(job);
      }
      await vectors.remove({ lakeId, fileId: id });
      return undefined;
    },
  };
}

export function createLakePurgeHandler({ store, vectors, deletion }: LakePurgeServices): JobHandler {
  const lakes = store.collection(LAKES);
  const files = store.collection(LAKE_FILES);
  return {
    kind: PURGE,
    concurrency: 1,
    async run(job) {
      const { lakeId } = job.payload as { lakeId: string };
      if ((await lakes.get(lakeId, { status: 'deleting' })) === undefined) return undefined;
      // Files first: a concurrent ingestion then finds its file gone and removes what it added.
      for (;;) {
        const batch = await files.find({ lakeId }, { limit: BATCH });
        for (const { id } of batch) {
          await store.transaction(async (inside) => {
            const taken = await inside.collection(LAKE_FILES).take(id, { lakeId });
            if (taken?.countedTo === undefined) return;
            await giveStorageBack(inside, { ownerId: taken.countedTo, kind: 'lakes', bytes: taken.size });
          });
        }
        if (batch.length < BATCH) break;
      }
      await vectors.remove({ lakeId });
      await deletion.dataLake(lakeId);
      await lakes.take(lakeId, { status: 'deleting' });
      return undefined;
    },
  };
}
