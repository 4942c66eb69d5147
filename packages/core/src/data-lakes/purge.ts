import { lookAgain } from '../engine/look-again.ts';
import type { JobHandler } from '../engine/worker.ts';
import type { NewJob } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';
import type { VectorIndex } from '../ports/vectors.ts';
import { LAKE_FILES, LAKES, type LakeFileRecord } from './records.ts';

const FORGET = 'data-lakes.forget-file';
const PURGE = 'data-lakes.purge';
const BATCH = 200;

/** Clears away what the index holds of a file that is being taken out of its lake. */
export function forgetFileJob({ id, lakeId }: Pick<LakeFileRecord, 'id' | 'lakeId'>, runAt: number): NewJob {
  return { kind: FORGET, key: `${FORGET}:${id}`, payload: { id, lakeId }, runAt };
}

/** Clears away a lake that is being deleted. */
export function lakePurgeJob(lakeId: string): NewJob {
  return { kind: PURGE, key: `${PURGE}:${lakeId}`, payload: { lakeId } };
}

export interface PurgeServices {
  readonly store: Store;
  readonly vectors: VectorIndex;
}

export function createForgetFileHandler({ store, vectors }: PurgeServices): JobHandler {
  const files = store.collection(LAKE_FILES);
  return {
    kind: FORGET,
    concurrency: 2,
    async run(job) {
      const { id, lakeId } = job.payload as { id: string; lakeId: string };
      if ((await files.get(id)) !== undefined) {
        // It is about to be taken out, or nothing became of that.
        return lookAgain(job);
      }
      await vectors.remove({ lakeId, fileId: id });
      return undefined;
    },
  };
}

export function createLakePurgeHandler({ store, vectors }: PurgeServices): JobHandler {
  const lakes = store.collection(LAKES);
  const files = store.collection(LAKE_FILES);
  return {
    kind: PURGE,
    concurrency: 1,
    async run(job) {
      const { lakeId } = job.payload as { lakeId: string };
      if ((await lakes.get(lakeId, { status: 'deleting' })) === undefined) return undefined;
      // Files first: whoever is still reading one in finds it gone and takes back what it added.
      for (;;) {
        const batch = await files.find({ lakeId }, { limit: BATCH });
        for (const { id } of batch) await files.take(id, { lakeId });
        if (batch.length < BATCH) break;
      }
      await vectors.remove({ lakeId });
      await lakes.take(lakeId, { status: 'deleting' });
      return undefined;
    },
  };
}
