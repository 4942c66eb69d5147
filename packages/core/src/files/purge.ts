import { removeFromLakes, type TakeOutServices } from '../data-lakes/taking-out.ts';
import { lookAgain } from '../engine/look-again.ts';
import type { JobHandler } from '../engine/worker.ts';
import type { ObjectStore } from '../ports/objects.ts';
import type { NewJob } from '../ports/queue.ts';
import { removeFromProjects } from '../projects/members.ts';
import { FILES, type FileRecord } from './records.ts';
import { quarantineKey } from './uploads.ts';

const KIND = 'files.purge';

/** Clears away what is left of a deleted file: its bytes, and its places in projects and data lakes. Written down before the file goes. */
export function purgeFileJob({ id, objectKey }: FileRecord): NewJob {
  return { kind: KIND, key: `purge-file:${id}`, payload: { fileId: id, objectKey } };
}

export function createFilePurgeHandler(
  services: TakeOutServices & { readonly objects: ObjectStore },
): JobHandler {
  const files = services.store.collection(FILES);
  return {
    kind: KIND,
    concurrency: 2,
    async run(job) {
      const { fileId, objectKey } = job.payload as { fileId: string; objectKey?: string };
      if ((await files.get(fileId)) !== undefined) return lookAgain(job);
      if (objectKey !== undefined) await services.objects.remove(objectKey);
      await services.objects.remove(quarantineKey(fileId));
      await removeFromProjects(services.store, 'fileIds', fileId);
      await removeFromLakes(services, fileId);
      return undefined;
    },
  };
}
