import type { Client } from './client.ts';
import { QuestlineError } from './error.ts';
import type { CallOptions } from './operation.ts';
import { cancelQuest, type SendChatMessageRequest, sendChatMessage } from './operations.ts';
import { followQuest, type Quest } from './quest.ts';

/** A turn that the server has accepted. Its loop yields the states of its quest. */
export interface Turn extends AsyncIterable<Quest> {
  /** The id of the quest. Keep it to follow the turn after a reload: `followQuest`. */
  readonly id: string;
  /** The id of the session, to continue it. */
  readonly sessionId: string;
  /** Waits for the end. Rejects with a QuestlineError if the turn failed. A cancelled turn resolves with `stopped`. */
  result(): Promise<Quest>;
  /** Stops the turn. What the model has produced until then is charged. */
  cancel(): Promise<Quest>;
}

/**
 * Sends a message and waits for its answer as long as it takes; the connection may break off meanwhile. A repetition after a
 * network failure is not a second message.
 * @param options `signal` ends the waiting, not the turn: use `cancel`.
 */
export async function chat(
  client: Client,
  message: Omit<SendChatMessageRequest, 'wait'>,
  options: CallOptions = {},
): Promise<Turn> {
  const { id, sessionId } = await client.call(
    sendChatMessage,
    { body: { ...message, wait: false } },
    options,
  );
  const { signal } = options;
  const follow = (): AsyncGenerator<Quest, void> => followQuest(client, id, { signal });
  return {
    id,
    sessionId,
    [Symbol.asyncIterator]: follow,
    async result() {
      let last: Quest | undefined;
      for await (const quest of follow()) last = quest;
      if (last === undefined) throw new TypeError(`quest ${id} has no state`);
      return checkQuest(last);
    },
    cancel: () => client.call(cancelQuest, { params: { id } }, { signal }),
  };
}

/** Returns a quest, or throws a QuestlineError if it failed. `charge` is what it has cost. */
export function checkQuest(quest: Quest): Quest {
  const { type, status, reply, errorCode, providerError, promptMeta } = quest;
  if (status !== 'done' || type !== 'error') return quest;
  throw new QuestlineError(reply ?? 'The turn failed.', {
    code: errorCode,
    // Every quest that was charged says how much.
    charge: { credits: promptMeta?.credits ?? 0 },
    provider: providerError as QuestlineError['provider'],
    retryAfter: providerError?.retryAfter,
    body: quest,
  });
}
