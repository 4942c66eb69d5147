import type { Clock } from '../ports/clock.ts';
import type { Store } from '../ports/store.ts';
import type { QuestTask } from './quest-task.ts';
import { QUESTS } from './records.ts';
import type { RunContext } from './run-context.ts';
import { removeAllPieces } from './text-pieces.ts';
import { abandonQuest } from './transitions.ts';

/**
 * Stops a quest whose target was deleted.
 * @returns false if it was stopped before, or a newer worker owns it.
 */
export function stopAbandoned(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  task: Pick<QuestTask, 'abandoned'>,
  { quest: { id }, job, writer, progress }: RunContext,
  explanation: string,
): Promise<boolean> {
  return store.transaction(async (transaction) => {
    const quests = transaction.collection(QUESTS);
    const quest = await abandonQuest(quests, id, job, explanation, clock.now(), progress().promptMeta);
    if (quest === undefined) return false;
    if (writer.removals().length > 0) await removeAllPieces(transaction, id);
    await task.abandoned?.(transaction, quest);
    return true;
  });
}
