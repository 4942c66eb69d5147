import type { SecretBox } from '../../models/secret-box.ts';
import type { QuestPause, QuestRecord, WaitingCall } from '../../runs/records.ts';
import { ApiError } from '../../shared/errors.ts';
import type { ConversationParts } from './conversation.ts';
import type { PausedTurn, SessionState } from './turn.ts';

/** What a turn needs to go on: the conversation as the model has seen it, without attachments. Plain JSON. */
export interface PausedWork extends SessionState, Omit<ConversationParts, 'attachments' | 'message'> {
  readonly turn: PausedTurn;
}

/* The conversation contains the system prompt of the request: it is stored only encrypted and bound to its quest. */
const place = (questId: string) => ['quest-wait', questId];

export function sealWork(
  box: SecretBox,
  questId: string,
  work: PausedWork,
  calls: readonly WaitingCall[],
): QuestPause {
  const { model, tools, systemText, turnText, turn } = work;
  const history = work.history.map(({ role, content }) => ({ role, content }));
  const state: PausedWork = { model, tools, systemText, turnText, history, turn };
  return { calls, sealedState: box.seal(JSON.stringify(state), place(questId)) };
}

/** @returns undefined for a quest that does not wait. @throws ApiError if the encryption key has changed. */
export function openWork(
  box: SecretBox,
  { id, wait }: QuestRecord,
): (PausedWork & { readonly calls: readonly WaitingCall[] }) | undefined {
  if (wait === undefined) return undefined;
  const text = box.open(wait.sealedState, place(id));
  if (text === undefined) throw new ApiError(500, 'This turn could not be resumed. Please send it again.');
  // Written by `sealWork`.
  return { ...(JSON.parse(text) as PausedWork), calls: wait.calls };
}
