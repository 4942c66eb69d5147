import type { JobHandler } from '../../jobs/handler.ts';
import { retryAfterDelay } from '../../jobs/retry-after-delay.ts';
import type { DeletionCleanup } from '../../operations/deletion.ts';
import type { ObjectStore } from '../../ports/objects.ts';
import type { NewJob } from '../../ports/queue.ts';
import type { Store } from '../../ports/store.ts';
import { FILES, type FileRecord } from './records.ts';
import { quarantineKey } from './uploads.ts';

const KIND = 'files.purge';

/** Cleans up after a deleted file: its bytes, and its entries in projects and data lakes. Enqueued before the deletion. */
export function purgeFileJob({ id, ownerId: owner, objectKey }: FileRecord): NewJob {
  return { kind: KIND, key: `purge-file:${id}`, owner, payload: { fileId: id, objectKey } };
}

export function createFilePurgeHandler(services: {
  readonly store: Store;
  readonly objects: ObjectStore;
  readonly deletion: DeletionCleanup;
}): JobHandler {
  const files = services.store.collection(FILES);
  return {
    kind: KIND,
    concurrency: 2,
    async run(job) {
      const { fileId, objectKey } = job.payload as { fileId: string; objectKey?: string };
      if ((await files.get(fileId)) !== undefined) return retryAfterDelay(job);
      if (objectKey !== undefined) await services.objects.remove(objectKey);
      await services.objects.remove(quarantineKey(fileId));
      await services.deletion.file(fileId);
      return undefined;
    },
  };
}
