import type { QuestRecord } from '../../runs/records.ts';
import { ApiError } from '../../shared/errors.ts';
import { getErrorCode, getPayloads, toPendingApprovals, toReplies, toReply } from '../quests/wire.ts';
import type { Acknowledgement, CompletedTurn } from './contract.ts';

/** The response for a caller that waited for the reply. */
export function toCompletedTurn(
  acknowledgement: Acknowledgement,
  quest: QuestRecord,
  totalMs: number,
  prompt: Pick<CompletedTurn, 'promptDetails' | 'promptText'>,
): CompletedTurn {
  const response = toReply(quest);
  const replies = toReplies(quest);
  const errorCode = getErrorCode(quest);
  return {
    ...acknowledgement,
    status: quest.status,
    ...toPendingApprovals(quest, quest.ownerId),
    type: quest.type,
    ...(errorCode !== undefined && { errorCode }),
    ...(quest.stopReason !== undefined && { stopReason: quest.stopReason }),
    ...(quest.providerError !== undefined && { providerError: quest.providerError }),
    response,
    responses: replies.length === 0 && response !== null ? [response] : replies,
    toolPayloads: [...getPayloads(quest)],
    createdAt: new Date(quest.createdAt).toISOString(),
    performance: { total_ms: totalMs, phases: { ...NO_PHASES, ...quest.phases } },
    ...prompt,
  };
}

const NO_PHASES = { load: 0, prompt: 0, model: 0, tools: 0, store: 0 };

/** The turn goes on; this caller's wait has timed out. @param isUnattended no worker runs that could begin it. */
export function waitTimeout({ id, sessionId }: Acknowledgement, isUnattended: boolean): ApiError {
  const message = isUnattended
    ? 'The reply was not ready in time: the server has accepted the message, and no worker runs that could answer ' +
      'it. Poll the quest for it.'
    : 'The reply was not ready in time. Poll the quest for it.';
  return new ApiError(504, message, {
    code: 'request_timeout',
    extra: { quest_id: id, sessionId },
  });
}
