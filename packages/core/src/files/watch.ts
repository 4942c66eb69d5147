import type { JobHandler, RunAgain } from '../engine/worker.ts';
import type { Clock } from '../ports/clock.ts';
import type { ObjectStore } from '../ports/objects.ts';
import type { JobQueue, NewJob } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';
import { FILES, type FileRecord } from './records.ts';
import { quarantineKey, scanJob } from './uploads.ts';
import { giveRoomBack } from './usage.ts';

const WATCH = 'files.watch';
const CONCURRENCY = 8;
const FIRST_LOOK_MS = 2000;
const LONGEST_PAUSE_MS = 60_000;
/** An upload that began in time may still be under way. */
const GRACE_MS = 3_600_000;

interface WatchPayload {
  readonly fileId: string;
  readonly announcedAt: number;
  readonly uploadUntil: number;
}

/**
 * Looks after an upload whose store tells nobody that it has come, and after one whose arrival was lost in a crash. In
 * the end it clears away what is left of it, and forgets a file that never came.
 */
export function watchJob({ id, createdAt, uploadUntil = createdAt }: FileRecord): NewJob {
  const payload = { fileId: id, announcedAt: createdAt, uploadUntil };
  return { kind: WATCH, key: `watch:${id}`, payload, runAt: createdAt + FIRST_LOOK_MS };
}

export function createWatchHandler(services: {
  readonly store: Store;
  readonly objects: ObjectStore;
  readonly queue: JobQueue;
  readonly clock: Clock;
}): JobHandler {
  const { store, objects, queue, clock } = services;
  const files = store.collection(FILES);

  /** Later and later, but not beyond the end. */
  const again = ({ announcedAt, uploadUntil }: WatchPayload): RunAgain => {
    const now = clock.now();
    const pause = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_LOOK_MS, (now - announcedAt) / 2));
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
        if ((await objects.head(quarantineKey(fileId))) !== undefined) await queue.enqueue(scanJob(fileId));
        else if (isOver) await forget(store, file);
        return isOver ? undefined : again(payload);
      }
      if (file?.status === 'scanning') {
        // Unless it is waiting already: then this changes nothing.
        await queue.enqueue(scanJob(fileId));
        return again(payload);
      }
      // A second upload to the same address may have come after the first was taken.
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
