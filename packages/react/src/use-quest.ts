import { useMemo } from 'react';
import { useAttached } from './attached.ts';
import { countEnd, useQuestlineContext } from './provider.ts';
import { createQuestReader, type Decision } from './quest-reader.ts';
import type { QuestState } from './quest-state.ts';

export interface QuestHandle extends QuestState {
  /** Stops the quest. What the model has produced until then is charged. */
  readonly cancel: () => Promise<void>;
  /** Decides about calls in `approvals`, all or none. Resolves with false if it failed. Never rejects. */
  readonly decide: (...decisions: readonly Decision[]) => Promise<boolean>;
}

/**
 * Follows a quest by its id: its text, tools and end. Unmounting stops the reading, not the quest.
 * @param id undefined: none.
 */
export function useQuest(id: string | undefined): QuestHandle {
  const context = useQuestlineContext();
  const reader = useMemo(() => createQuestReader(context.client, id, countEnd(context)), [context, id]);
  return { ...useAttached(reader), cancel: reader.cancel, decide: reader.decide };
}
