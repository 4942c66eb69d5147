import type { JobHandler } from '../engine/worker.ts';
import type { ObjectStore } from '../ports/objects.ts';
import type { NewJob } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';
import { removeFromProjects } from '../projects/members.ts';
import { FILES, type FileRecord } from './records.ts';
import { quarantineKey } from './uploads.ts';

const KIND = 'files.purge';
/** By then whoever was deleting has finished or failed. */
const SETTLED_AFTER_MS = 60_000;

/** Clears away the bytes of a deleted file. Written down before the file goes. */
export function purgeFileJob({ id, objectKey }: FileRecord): NewJob {
  return { kind: KIND, key: `purge-file:${id}`, payload: { fileId: id, objectKey } };
}

export function createFilePurgeHandler(services: {
  readonly store: Store;
  readonly objects: ObjectStore;
}): JobHandler {
  const files = services.store.collection(FILES);
  return {
    kind: KIND,
    concurrency: 2,
    async run(job) {
      const { fileId, objectKey } = job.payload as { fileId: string; objectKey?: string };
      if ((await files.get(fileId)) !== undefined) {
        return job.attempt === 1 ? { afterMs: SETTLED_AFTER_MS, countAttempt: true } : undefined;
      }
      if (objectKey !== undefined) await services.objects.remove(objectKey);
      await services.objects.remove(quarantineKey(fileId));
      await removeFromProjects(services.store, 'fileIds', fileId);
      return undefined;
    },
  };
}
