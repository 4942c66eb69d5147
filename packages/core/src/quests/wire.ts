import type * as z from 'zod';
import { endedPlan } from '../quest-master/board.ts';
import type { questErrorCode, WireQuest } from './contract.ts';
import { PLAN_PAYLOAD, type QuestRecord, type ToolPayload } from './records.ts';
import { hasEnded } from './transitions.ts';

/** Written to the wire as it is: a poll copies nothing. */
const NONE: never[] = [];

/** A quest as its readers see it. @param files those it has made, with their addresses. */
export function toWireQuest(quest: QuestRecord, files: WireQuest['files'] = NONE): WireQuest {
  const wire: WireQuest = {
    id: quest.id,
    sessionId: quest.sessionId,
    status: quest.status,
    type: quest.type,
    reply: replyOf(quest),
    replies: repliesOf(quest),
    images: (quest.images ?? NONE) as string[],
    videos: NONE,
    files,
    toolPayloads: payloadsOf(quest) as WireQuest['toolPayloads'],
    createdAt: new Date(quest.createdAt).toISOString(),
    updatedAt: new Date(quest.updatedAt).toISOString(),
  };
  const errorCode = errorCodeOf(quest);
  if (errorCode !== undefined) wire.errorCode = errorCode;
  if (quest.fallbackInfo !== undefined) wire.fallbackInfo = quest.fallbackInfo;
  if (quest.promptMeta !== undefined) wire.promptMeta = quest.promptMeta;
  if (quest.attachmentNotices !== undefined) wire.attachmentNotices = [...quest.attachmentNotices];
  if (quest.attachmentDelivery !== undefined) {
    const { droppedIds, ...delivery } = quest.attachmentDelivery;
    wire.attachmentDelivery = { ...delivery, droppedIds: [...droppedIds] };
  }
  return wire;
}

/** What was made to be shown. Of a plan that nobody works on any more nothing is still to come. */
export function payloadsOf(quest: QuestRecord): readonly ToolPayload[] {
  const { toolPayloads = NONE } = quest;
  if (!hasEnded(quest) || !toolPayloads.some(({ type }) => type === PLAN_PAYLOAD)) return toolPayloads;
  return toolPayloads.map((payload) => (payload.type === PLAN_PAYLOAD ? endedPlan(payload) : payload));
}

/** What was said; in its place why it failed or was stopped. Null while nothing was said. */
export function replyOf({ status, explanation, answer, text = '' }: QuestRecord): string | null {
  return explanation ?? answer ?? (text !== '' || status === 'done' ? text : null);
}

/** What was said, also when it then failed or was stopped; of a whole answer not the way there. */
export function repliesOf({ status, type, answer, text = '' }: QuestRecord): string[] {
  if (answer !== undefined && answer !== '' && status === 'done' && type === 'message') return [answer];
  return text === '' ? [] : [text];
}

/** Only these two refine a failure on the wire. */
export function errorCodeOf({ errorCode }: QuestRecord): z.infer<typeof questErrorCode> | undefined {
  return errorCode === 'insufficient_credits' || errorCode === 'spend_cap_exceeded' ? errorCode : undefined;
}
