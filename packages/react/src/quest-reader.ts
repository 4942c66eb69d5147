import { type Client, follow, type QuestlineError } from '@questline/client';
import {
  cancelQuest,
  type DecideQuestCallsRequest,
  decideQuestCalls,
  getQuestEvents,
} from '@questline/client/operations';
import { attempt, toError } from './error.ts';
import { applyEvent, IDLE, isOver, type QuestState, RUNNING } from './quest-state.ts';
import { type Attachable, createState } from './state.ts';

/** Yields the states of a quest to its end. A connection that breaks off is made again. */
export async function* readQuest(
  client: Client,
  id: string,
  signal: AbortSignal,
): AsyncGenerator<QuestState, void> {
  let state = RUNNING;
  for await (const event of follow(client, getQuestEvents, { params: { id } }, { signal })) {
    const next = applyEvent(state, event);
    if (next === state) continue;
    state = next;
    yield state;
  }
}

export type Decision = DecideQuestCallsRequest['decisions'][number];

export interface QuestReader extends Attachable<QuestState> {
  /** Stops the quest. What the model has produced until then is charged. */
  cancel(): Promise<void>;
  decide(...decisions: readonly Decision[]): Promise<boolean>;
}

/** @param onEnd called when the quest has ended. */
export function createQuestReader(client: Client, id: string | undefined, onEnd: () => void): QuestReader {
  const state = createState(id === undefined ? IDLE : RUNNING);
  const read = async (quest: string, signal: AbortSignal): Promise<void> => {
    try {
      for await (const next of readQuest(client, quest, signal)) state.set(next);
      onEnd();
    } catch (error) {
      if (!signal.aborted) state.update({ status: 'failed', error: toError(error) });
    }
  };
  const report = (error: QuestlineError): void => state.update({ error });
  return {
    state,
    attach() {
      const controller = new AbortController();
      if (id !== undefined && !isOver(state.get())) void read(id, controller.signal);
      return () => controller.abort();
    },
    async cancel() {
      if (id === undefined || isOver(state.get())) return;
      await attempt(client.call(cancelQuest, { params: { id } }), report);
    },
    async decide(...decisions) {
      if (id === undefined) return false;
      return attempt(client.call(decideQuestCalls, { params: { id }, body: { decisions } }), report);
    },
  };
}
