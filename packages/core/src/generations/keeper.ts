import { RENEW_EVERY_MS, type ReservationServices, renewHold } from '../credits/reservations.ts';
import type { Chore } from '../engine/engine.ts';
import type { JobQueue } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';
import { generationJob } from './job.ts';
import { MUSIC } from './music.ts';
import { GENERATIONS, type GenerationRecord } from './records.ts';
import { VIDEO } from './video.ts';

const BATCH = 500;

/**
 * Looks after what lives: renews its hold, and gives it a job if it has lost its own, because whoever accepted it died
 * before it was queued, or the queue forgot it. What nobody could pay for is forgotten after its time.
 */
export function createGenerationKeeper(
  services: ReservationServices & {
    readonly store: Store;
    readonly queue: JobQueue;
    readonly worker: { readonly leaseMs: number };
  },
): Chore {
  const { queue, clock } = services;
  const { leaseMs } = services.worker;
  const generations = services.store.collection(GENERATIONS);

  const tend = async (record: GenerationRecord): Promise<void> => {
    const { id, tendAt, state, hold, kind } = record;
    if (state === 'reserving') {
      await generations.take(id, { state, tendAt: tendAt ?? null });
      return;
    }
    const next = { tendAt: clock.now() + RENEW_EVERY_MS };
    if ((await generations.update(id, next, { tendAt: tendAt ?? null })) === undefined) return;
    await queue.enqueue(generationJob(kind === 'video' ? VIDEO : MUSIC, id));
    if (hold !== undefined) await renewHold(services, hold);
  };

  return {
    name: 'tend-generations',
    everyMs: Math.min(leaseMs / 2, RENEW_EVERY_MS / 5),
    async run() {
      for (;;) {
        const due = await generations.find(
          { tendAt: { lte: clock.now() } },
          { order: { field: 'tendAt', direction: 'asc' }, limit: BATCH },
        );
        for (const record of due) await tend(record);
        if (due.length < BATCH) return;
      }
    },
  };
}
