import type { Client } from './client.ts';
import { type GetQuestResponse, getQuest } from './operations.ts';
import { poll } from './poll.ts';

export type Quest = GetQuestResponse;

export interface FollowOptions {
  readonly signal?: AbortSignal | undefined;
}

/**
 * The states of a quest: the current one, each change, and the terminal one as the last. Leaving the loop does not stop the
 * quest. Network failures are waited out for about a minute.
 */
export function followQuest(
  client: Client,
  id: string,
  options: FollowOptions = {},
): AsyncGenerator<Quest, void> {
  // The place for a source that pushes: it yields the same states.
  return poll(client, getQuest, { params: { id } }, { ...options, isFinal: isTerminal });
}

function isTerminal({ status }: Quest): boolean {
  return status === 'done' || status === 'stopped';
}
