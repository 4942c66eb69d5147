import type * as z from 'zod';
import { PLAN_PAYLOAD, type QuestRecord, type ToolPayload } from '../../runs/records.ts';
import { hasEnded } from '../../runs/states.ts';
import { describeWithoutSums, isCreditCode } from '../../shared/errors.ts';
import { toIsoTime } from '../../shared/iso-time.ts';
import { endedPlan } from '../quest-master/plan-progress.ts';
import type { questErrorCode, WireQuest } from './contract.ts';

/** Stored in the form of the wire: a poll copies nothing. */
const NONE: never[] = [];

/** A quest as the API returns it. @param files the quest's files, with their URLs. */
export function toWireQuest(quest: QuestRecord, files: WireQuest['files'] = NONE): WireQuest {
  const wire: WireQuest = {
    id: quest.id,
    sessionId: quest.sessionId,
    // Only the user who asked for approvals sees that a quest waits.
    status: quest.status === 'waiting' ? 'running' : quest.status,
    type: quest.type,
    reply: toReply(quest),
    replies: toReplies(quest),
    images: (quest.images ?? NONE) as string[],
    videos: NONE,
    files,
    toolPayloads: getPayloads(quest) as WireQuest['toolPayloads'],
    createdAt: toIsoTime(quest.createdAt),
    updatedAt: toIsoTime(quest.updatedAt),
  };
  const errorCode = getErrorCode(quest);
  if (errorCode !== undefined) wire.errorCode = errorCode;
  if (quest.stopReason !== undefined) wire.stopReason = quest.stopReason;
  if (quest.providerError !== undefined) wire.providerError = quest.providerError;
  if (quest.fallbackInfo !== undefined) wire.fallbackInfo = quest.fallbackInfo;
  if (quest.promptMeta !== undefined) wire.promptMeta = quest.promptMeta;
  if (quest.attachmentNotices !== undefined) wire.attachmentNotices = [...quest.attachmentNotices];
  if (quest.attachmentDelivery !== undefined) {
    const { droppedIds, ...delivery } = quest.attachmentDelivery;
    wire.attachmentDelivery = { ...delivery, droppedIds: [...droppedIds] };
  }
  return wire;
}

/** A quest as a user may read it: the sums in a refusal are for the user who asked. */
export function readableBy<Q extends QuestRecord>(quest: Q, userId: string): Q {
  const { explanation, errorCode, ownerId } = quest;
  if (explanation === undefined || !isCreditCode(errorCode) || ownerId === userId) return quest;
  return { ...quest, explanation: describeWithoutSums({ code: errorCode, message: explanation }) };
}

/** What the user who asked for approvals sees of a quest that waits. */
export function toPendingApprovals(
  { status, ownerId, wait }: QuestRecord,
  userId: string,
): Pick<WireQuest, 'pendingApprovals'> & { status?: 'waiting' } {
  if (status !== 'waiting' || ownerId !== userId || wait === undefined) return {};
  return {
    status,
    pendingApprovals: wait.calls.map(({ id, tool, kind, input, decision }) => ({
      callId: id,
      tool,
      kind,
      input,
      ...(decision !== undefined && { decision: decision.type }),
    })),
  };
}

/** Payloads to display. Tasks of an abandoned plan are not shown as pending. */
export function getPayloads(quest: QuestRecord): readonly ToolPayload[] {
  const { toolPayloads = NONE } = quest;
  if (!hasEnded(quest) || !toolPayloads.some(({ type }) => type === PLAN_PAYLOAD)) return toolPayloads;
  return toolPayloads.map((payload) => (payload.type === PLAN_PAYLOAD ? endedPlan(payload) : payload));
}

/** The answer, or the reason of a failure or a stop. Null before any text. */
export function toReply({ status, explanation, answer, text = '' }: QuestRecord): string | null {
  return explanation ?? answer ?? (text !== '' || status === 'done' ? text : null);
}

/** The text, also of a quest that then failed or was stopped; for a complete answer only the final text. */
export function toReplies({ status, type, answer, text = '' }: QuestRecord): string[] {
  if (answer !== undefined && answer !== '' && status === 'done' && type === 'message') return [answer];
  return text === '' ? [] : [text];
}

/** The only refinements of a failure on the wire. */
export function getErrorCode({ errorCode }: QuestRecord): z.infer<typeof questErrorCode> | undefined {
  return isCreditCode(errorCode) ? errorCode : undefined;
}
