import type { Store } from '../../../ports/store.ts';
import { QUESTS, type QuestRecord } from '../../../runs/records.ts';
import { hasEnded } from '../../../runs/states.ts';
import { ApiError } from '../../../shared/errors.ts';
import { countStorage } from '../../storage/usage.ts';
import type { ResponseRecord } from '../responses/records.ts';
import { CONVERSATIONS, type ConversationRecord } from './records.ts';
import { addEntries, toAnswerEntry, toGivenEntries } from './write.ts';

/** The conversation that a response continues, as it was read before the history was. */
export type ContinuedConversation = Pick<ConversationRecord, 'id' | 'ownerId' | 'sequence' | 'current'>;

/** Another response of the conversation has not ended. */
function conversationLocked(): ApiError {
  const message = 'Another response of this conversation has not ended. Try again when it has.';
  return new ApiError(409, message, {
    extra: { code: 'conversation_locked' },
    details: [{ path: 'conversation', message }],
  });
}

/** @throws ApiError 409 `conversation_locked` while the last response runs. */
export async function checkUnlocked(store: Store, { current }: ContinuedConversation): Promise<void> {
  const quest = current === undefined ? undefined : await store.collection(QUESTS).get(current);
  if (quest !== undefined && !hasEnded(quest)) throw conversationLocked();
}

/**
 * Makes a response the current one of its conversation, in the transaction that stores the response.
 * @throws ApiError 409 `conversation_locked` if the conversation has changed since it was read.
 */
export async function lockConversation(
  store: Store,
  { id, ownerId, sequence, current }: ContinuedConversation,
  questId: string,
): Promise<void> {
  const locked = await store
    .collection(CONVERSATIONS)
    .update(id, { current: questId }, { ownerId, sequence, current: current ?? null });
  if (locked === undefined) throw conversationLocked();
}

/**
 * Adds the items of a response to its conversation, in the transaction of its end. A response that failed or was stopped
 * adds nothing, and so does one whose conversation was deleted.
 */
export async function addTurn(
  store: Store,
  { id, status, type, output }: QuestRecord,
  { ownerId, input, conversation }: ResponseRecord,
): Promise<void> {
  if (conversation === undefined || status !== 'done' || type === 'error') return;
  const entries = [
    ...toGivenEntries(id, JSON.parse(input) as readonly unknown[]),
    ...(output === undefined ? [] : [toAnswerEntry(id, output, conversation.context)]),
  ];
  const isAdded = await addEntries(store, { id: conversation.id, ownerId }, entries, { isPaid: true });
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
  if (isAdded) await countStorage(store, { ownerId, kind: 'sessions', bytes });
}
