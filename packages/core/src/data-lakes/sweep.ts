import type { Chore } from '../engine/engine.ts';
import type { Clock } from '../ports/clock.ts';
import type { JobQueue } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';
import { ingestionJob } from './ingestion.ts';
import { lakePurgeJob } from './purge.ts';
import { LAKE_FILES, LAKES } from './records.ts';

const EVERY_MS = 60_000;
/** A job that works on something writes more often. */
const QUIET_MS = 120_000;
const BATCH = 500;

/** A process may end between writing work down and handing it to the queue: such work is handed over again. */
export function createLakeSweep(services: {
  readonly store: Store;
  readonly queue: JobQueue;
  readonly clock: Clock;
}): Chore {
  const { queue, clock } = services;
  const files = services.store.collection(LAKE_FILES);
  const lakes = services.store.collection(LAKES);
  return {
    name: 'sweep-data-lakes',
    everyMs: EVERY_MS,
    async run() {
      const quiet = { lt: clock.now() - QUIET_MS };
      // While there is a job of that key another is not added.
      for (const file of await files.find({ status: 'indexing', updatedAt: quiet }, { limit: BATCH })) {
        await queue.enqueue(ingestionJob(file));
      }
      for (const { id } of await lakes.find({ status: 'deleting', updatedAt: quiet }, { limit: BATCH })) {
        await queue.enqueue(lakePurgeJob(id));
      }
    },
  };
}
