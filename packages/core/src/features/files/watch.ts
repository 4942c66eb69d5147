import type { JobHandler } from '../../jobs/handler.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ObjectStore } from '../../ports/objects.ts';
import type { JobQueue, NewJob, Reschedule } from '../../ports/queue.ts';
import type { Store } from '../../ports/store.ts';
import { FILES, type FileRecord } from './records.ts';
import { quarantineKey, scanJob } from './uploads.ts';
import { giveRoomBack } from './usage.ts';

const WATCH = 'files.watch';
const CONCURRENCY = 8;
const FIRST_LOOK_MS = 2000;
const MAX_PAUSE_MS = 60_000;
/** Extra time for an upload that began before the URL expired. */
const GRACE_MS = 3_600_000;

interface WatchPayload {
  readonly fileId: string;
  readonly announcedAt: number;
  readonly uploadUntil: number;
}

/**
 * Checks for uploads to stores that report none, and for uploads whose report was lost in a crash. After the last check
 * it cleans up, and deletes the record of a file that was never uploaded.
 */
export function watchJob({ id, ownerId: owner, createdAt, uploadUntil = createdAt }: FileRecord): NewJob {
  const payload = { fileId: id, announcedAt: createdAt, uploadUntil };
  return { kind: WATCH, key: `watch:${id}`, owner, payload, runAt: createdAt + FIRST_LOOK_MS };
}

export function createWatchHandler(services: {
  readonly store: Store;
  readonly objects: ObjectStore;
  readonly queue: JobQueue;
  readonly clock: Clock;
}): JobHandler {
  const { store, objects, queue, clock } = services;
  const files = store.collection(FILES);

  /** Increasing delays, up to the deadline. */
  const again = ({ announcedAt, uploadUntil }: WatchPayload): Reschedule => {
    const now = clock.now();
    const pause = Math.min(MAX_PAUSE_MS, Math.max(FIRST_LOOK_MS, (now - announcedAt) / 2));
    const left = Math.max(1, uploadUntil + GRACE_MS - now);
    return { afterMs: Math.ceil(Math.min(pause, left)), countAttempt: false };
  };

  return {
    kind: WATCH,
    concurrency: CONCURRENCY,
    async run(job) {
      const payload = job.payload as unknown as WatchPayload;
      const { fileId, uploadUntil } = payload;
      const isOver = clock.now() >= uploadUntil + GRACE_MS;
      const file = await files.get(fileId);
      if (file?.status === 'pending') {
        if ((await objects.head(quarantineKey(fileId))) !== undefined) await queue.enqueue(scanJob(file));
        else if (isOver) await forget(store, file);
        return isOver ? undefined : again(payload);
      }
      if (file?.status === 'scanning') {
        // No effect when the job is already queued.
        await queue.enqueue(scanJob(file));
        return again(payload);
      }
      // A second upload to the same address may follow the first.
      if (!isOver) return { afterMs: uploadUntil + GRACE_MS - clock.now(), countAttempt: false };
      await objects.remove(quarantineKey(fileId));
      return undefined;
    },
  };
}

function forget(store: Store, file: FileRecord): Promise<void> {
  return store.transaction(async (inside) => {
    const taken = await inside.collection(FILES).take(file.id, { status: 'pending' });
    if (taken !== undefined) await giveRoomBack(inside, file.ownerId, file.size);
  });
}
