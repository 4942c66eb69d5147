import type { Client } from './client.ts';
import { QuestlineError } from './error.ts';
import { type FollowOptions, follow } from './follow.ts';
import {
  type GetQuestEventsResponse,
  type GetQuestResponse,
  getQuest,
  getQuestEvents,
} from './operations.ts';
import { poll } from './poll.ts';

export type Quest = GetQuestResponse;

/** An event of a quest, for `follow(client, getQuestEvents, { params: { id } })`. */
export type QuestEvent = GetQuestEventsResponse;

/**
 * The states of a quest: the current one, each change, and the terminal one as the last. `reply` grows with the answer. A
 * connection that breaks off is made again. Leaving the loop does not stop the quest.
 */
export async function* followQuest(
  client: Client,
  id: string,
  { signal }: Pick<FollowOptions, 'signal'> = {},
): AsyncGenerator<Quest, void> {
  const input = { params: { id } };
  let state: Quest | undefined;
  try {
    for await (const event of follow(client, getQuestEvents, input, { signal })) {
      const next = applyEvent(state, event);
      if (next === undefined || next === state) continue;
      state = next;
      yield next;
    }
    return;
  } catch (error) {
    // A server without the operation; a quest that is gone fails again below.
    if (state !== undefined || !(error instanceof QuestlineError) || error.status !== 404) throw error;
  }
  yield* poll(client, getQuest, input, { signal, isFinal: isTerminal });
}

function applyEvent(state: Quest | undefined, event: QuestEvent): Quest | undefined {
  if (event.type === 'end') return event.state;
  if (event.type === 'snapshot') {
    const { state: quest, text } = event;
    // The reply of a running quest can be ahead of the events: those that follow repeat a part of it.
    return { ...quest, reply: text || (isTerminal(quest) ? quest.reply : null) };
  }
  if (state === undefined) return undefined;
  if (event.type === 'text')
    return { ...state, status: 'running', reply: `${state.reply ?? ''}${event.text}` };
  return event.type === 'reset-step' ? { ...state, reply: event.text } : state;
}

function isTerminal({ status }: Quest): boolean {
  return status === 'done' || status === 'stopped';
}
