import type { PeriodicTask } from '../jobs/engine.ts';
import { removeWhere } from '../ports/remove-where.ts';
import type { Store } from '../ports/store.ts';
import { QUESTS } from './records.ts';
import { HELD } from './states.ts';
import { QUEST_TEXTS } from './text-pieces.ts';

const BATCH = 200;
/** Bounds one run; the next one continues behind. */
const MAX_BATCHES = 10;

/**
 * Deletes pieces of text that no worker will move into a record: their quest has ended, or was deleted before its worker
 * closed it.
 */
export function createTextSweep({ store }: { readonly store: Store }): PeriodicTask {
  const texts = store.collection(QUEST_TEXTS);
  const quests = store.collection(QUESTS);
  let last = '';

  /** @returns whether there are more. */
  const sweepBatch = async (): Promise<boolean> => {
    const found = await texts.find({ id: { gt: last } }, { limit: BATCH });
    last = found.length === BATCH ? (found.at(-1)?.id ?? '') : '';
    const ids = [...new Set(found.map(({ questId }) => questId))];
    if (ids.length === 0) return false;
    const held = new Set((await quests.find({ id: { in: ids }, ...HELD })).map(({ id }) => id));
    const left = found.filter(({ questId }) => !held.has(questId)).map(({ id }) => id);
    if (left.length > 0) await removeWhere(texts, { id: { in: left } });
    return last !== '';
  };

  return {
    name: 'sweep-quest-texts',
    everyMs: 600_000,
    async run() {
      for (let batch = 0; batch < MAX_BATCHES; batch += 1) if (!(await sweepBatch())) return;
    },
  };
}
