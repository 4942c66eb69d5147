import type { PeriodicTask } from '../../jobs/engine.ts';
import type { Clock } from '../../ports/clock.ts';
import type { JobQueue } from '../../ports/queue.ts';
import type { Store } from '../../ports/store.ts';
import { ingestionJob } from './ingestion.ts';
import { lakePurgeJob } from './purge.ts';
import { LAKE_FILES, LAKES } from './records.ts';

const EVERY_MS = 60_000;
/** An active job writes more often than this. */
const QUIET_MS = 120_000;
const BATCH = 500;

/** Enqueues persisted work again: a process may crash between the write and the enqueue. */
export function createLakeSweep(services: {
  readonly store: Store;
  readonly queue: JobQueue;
  readonly clock: Clock;
}): PeriodicTask {
  const { queue, clock } = services;
  const files = services.store.collection(LAKE_FILES);
  const lakes = services.store.collection(LAKES);
  return {
    name: 'sweep-data-lakes',
    everyMs: EVERY_MS,
    async run() {
      const quiet = { lt: clock.now() - QUIET_MS };
      // No effect while a job with that key exists.
      for (const file of await files.find({ status: 'indexing', updatedAt: quiet }, { limit: BATCH })) {
        await queue.enqueue(ingestionJob(file));
      }
      for (const lake of await lakes.find({ status: 'deleting', updatedAt: quiet }, { limit: BATCH })) {
        await queue.enqueue(lakePurgeJob(lake));
      }
    },
  };
}
