import type { PeriodicTask } from '../jobs/engine.ts';
import type { Clock } from '../ports/clock.ts';
import type { JobQueue } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';
import { questJob } from './handler.ts';
import { QUESTS } from './records.ts';

const BATCH = 500;

/**
 * Enqueues quests without a job, after a crash before `enqueue` or after a loss in the queue. A quest with a live job
 * keeps it.
 */
export function createQuestSweep(services: {
  readonly store: Store;
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly worker: { readonly leaseMs: number };
}): PeriodicTask {
  const { queue, clock } = services;
  const { leaseMs } = services.worker;
  const quests = services.store.collection(QUESTS);
  return {
    name: 'sweep-quests',
    everyMs: leaseMs / 2,
    async run() {
      const stale = await quests.find(
        { liveSince: { lte: clock.now() - leaseMs } },
        { order: { field: 'liveSince', direction: 'asc' }, limit: BATCH },
      );
      for (const quest of stale) await queue.enqueue(questJob(quest));
    },
  };
}
