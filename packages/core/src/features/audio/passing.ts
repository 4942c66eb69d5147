import type { JobHandler } from '../../jobs/handler.ts';
import type { ObjectStore } from '../../ports/objects.ts';
import type { NewJob } from '../../ports/queue.ts';
import type { Store } from '../../ports/store.ts';
import { TRANSCRIPTION_UPLOADS } from './transcriptions-records.ts';

const KIND = 'media.expire';

/** Removes bytes without a file when they expire. Enqueued before the bytes are stored. */
export function expireJob(objectKey: string, runAt: number, uploadId?: string): NewJob {
  return {
    kind: KIND,
    key: `expire:${objectKey}`,
    payload: { objectKey, ...(uploadId !== undefined && { uploadId }) },
    runAt,
  };
}

export function createExpiryHandler(services: {
  readonly store: Store;
  readonly objects: ObjectStore;
}): JobHandler {
  const uploads = services.store.collection(TRANSCRIPTION_UPLOADS);
  return {
    kind: KIND,
    concurrency: 2,
    async run(job) {
      const { objectKey, uploadId } = job.payload as { objectKey: string; uploadId?: string };
      await services.objects.remove(objectKey);
      if (uploadId !== undefined) await uploads.take(uploadId);
      return undefined;
    },
  };
}
