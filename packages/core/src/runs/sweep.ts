import type { PeriodicTask } from '../jobs/engine.ts';
import type { Clock } from '../ports/clock.ts';
import type { JobQueue } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';
import { questJob } from './quest-job.ts';
import { QUESTS, type QuestRecord } from './records.ts';

const BATCH = 500;
/** Bounds one run; the next one continues behind. */
const MAX_BATCHES = 10;

/**
 * Enqueues quests without a job, after a crash before `enqueue` or after a loss in the queue. A quest with a live job
 * keeps it. Continues behind the quests of the last run, so that a long line of quests with jobs hides none without.
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
  let last: QuestRecord | undefined;

  const findLost = async (stale: readonly QuestRecord[]): Promise<readonly QuestRecord[]> => {
    if (queue.findKeys === undefined || stale.length === 0) return stale;
    const keys = new Set(await queue.findKeys(stale.map((quest) => questJob(quest).key)));
    return stale.filter((quest) => !keys.has(questJob(quest).key));
  };

  /** @returns whether there are more. */
  const sweepBatch = async (): Promise<boolean> => {
    const after = last?.liveSince === undefined ? undefined : { value: last.liveSince, id: last.id };
    const stale = await quests.find(
      { liveSince: { lte: clock.now() - leaseMs } },
      { order: { field: 'liveSince', direction: 'asc' }, limit: BATCH, ...(after && { after }) },
    );
    for (const quest of await findLost(stale)) await queue.enqueue(questJob(quest));
    last = stale.length === BATCH ? stale.at(-1) : undefined;
    return last !== undefined;
  };

  return {
    name: 'sweep-quests',
    everyMs: leaseMs / 2,
    async run() {
      // Without `findKeys`, each quest costs a call.
      const batches = queue.findKeys === undefined ? 1 : MAX_BATCHES;
      for (let batch = 0; batch < batches; batch += 1) if (!(await sweepBatch())) return;
    },
  };
}
