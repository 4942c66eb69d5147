import { RENEW_EVERY_MS, type ReservationServices, renewHold } from '../../credits/reservations.ts';
import type { PeriodicTask } from '../../jobs/engine.ts';
import type { JobQueue } from '../../ports/queue.ts';
import type { Store } from '../../ports/store.ts';
import { generationJob } from './job.ts';
import { MUSIC } from './music.ts';
import type { GenerationRecord } from './records.ts';
import { getGenerations } from './stored.ts';
import { VIDEO } from './video.ts';

const BATCH = 500;

/**
 * Maintains active generations: renews the hold, and enqueues the job again when it is lost, because a process crashed
 * before it was queued, or the queue lost it. Deletes generations without held credit after their retention.
 */
export function createGenerationMaintenance(
  services: ReservationServices & {
    readonly store: Store;
    readonly queue: JobQueue;
    readonly worker: { readonly leaseMs: number };
  },
): PeriodicTask {
  const { queue, clock } = services;
  const { leaseMs } = services.worker;
  const generations = getGenerations(services.store);

  const maintain = async (record: GenerationRecord): Promise<void> => {
    const { id, nextCheckAt, state, hold, kind } = record;
    if (state === 'reserving') {
      await generations.take(id, { state, nextCheckAt: nextCheckAt ?? null });
      return;
    }
    const next = { nextCheckAt: clock.now() + RENEW_EVERY_MS };
    if ((await generations.update(id, next, { nextCheckAt: nextCheckAt ?? null })) === undefined) return;
    await queue.enqueue(generationJob(kind === 'video' ? VIDEO : MUSIC, record));
    if (hold !== undefined) await renewHold(services, hold);
  };

  return {
    name: 'tend-generations',
    everyMs: Math.min(leaseMs / 2, RENEW_EVERY_MS / 5),
    async run() {
      for (;;) {
        const due = await generations.find(
          { nextCheckAt: { lte: clock.now() } },
          { order: { field: 'nextCheckAt', direction: 'asc' }, limit: BATCH },
        );
        for (const record of due) await maintain(record);
        if (due.length < BATCH) return;
      }
    },
  };
}
