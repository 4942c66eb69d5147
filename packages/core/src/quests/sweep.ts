import type { Chore } from '../engine/engine.ts';
import type { Clock } from '../ports/clock.ts';
import type { JobQueue } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';
import { questJob } from './handler.ts';
import { QUESTS } from './records.ts';

const BATCH = 500;

/**
 * Gives a job to quests that have lost theirs: whoever accepted them died before it was queued, or the queue forgot it.
 * A quest whose job is alive keeps it.
 */
export function createQuestSweep(services: {
  readonly store: Store;
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly worker: { readonly leaseMs: number };
}): Chore {
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
