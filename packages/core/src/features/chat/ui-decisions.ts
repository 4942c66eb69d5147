import type { NewDecision } from '../../runs/decisions.ts';
import type { QuestRecord } from '../../runs/records.ts';
import { invalid } from '../../shared/errors.ts';
import { toAnswer } from '../quests/decisions.ts';
import type { LastMessage, UiChatBody } from './ui-contract.ts';
import { getApprovalId } from './ui-parts.ts';

type Part = LastMessage['parts'][number];

/** Maximum length of a reason, in characters. */
const MAX_REASON = 2000;

/** Whether the page sends decisions: the last message is then the answer that waits. */
export function isDecision({ trigger, messages }: UiChatBody): boolean {
  return trigger === 'submit-message' && messages.role === 'assistant';
}

export interface UiDecisions {
  readonly decisions: readonly NewDecision[];
  /** The ids of the waiting calls in the page, by the ids of the calls. */
  readonly toolCallIds: ReadonlyMap<string, string>;
}

/**
 * Reads the decisions of a page. Only those about calls of this quest count; nothing else of the message is believed.
 * @throws ApiError 422 without a decision.
 */
export function readDecisions(quest: QuestRecord, { id, parts, index }: LastMessage): UiDecisions {
  const path = `messages.${index}`;
  if (id !== quest.id) throw invalid(`${path}.id`, 'must be the id of the answer that waits');
  const known = [...(quest.wait?.calls ?? []), ...(quest.decided ?? [])].map((call) => call.id);
  const toolCallIds = new Map<string, string>();
  const decisions: NewDecision[] = [];
  for (const [at, part] of parts.entries()) {
    const { toolCallId } = part;
    if (typeof toolCallId !== 'string') continue;
    const callId = known.find((one) => isIdOf(toolCallId, quest.id, one));
    if (callId === undefined || toolCallIds.has(callId)) continue;
    toolCallIds.set(callId, toolCallId);
    const decision = readDecision(quest, callId, part, `${path}.parts.${at}`);
    if (decision !== undefined) decisions.push({ callId, decision });
  }
  if (decisions.length === 0)
    throw invalid(`${path}.parts`, 'must contain a decision about a call that waits');
  return { decisions, toolCallIds };
}

/** The ids of calls in the page contain the number of an attempt. */
function isIdOf(toolCallId: string, questId: string, callId: string): boolean {
  return (
    toolCallId.startsWith(`${questId}.`) &&
    /^\d+\.(.+)$/.exec(toolCallId.slice(questId.length + 1))?.[1] === callId
  );
}

function readDecision(
  quest: QuestRecord,
  callId: string,
  { state, approval, output, errorText }: Part,
  path: string,
): NewDecision['decision'] | undefined {
  switch (state) {
    case 'approval-responded': {
      const { id, approved, reason } = (approval ?? {}) as Readonly<Record<string, unknown>>;
      if (id !== getApprovalId(quest.id, callId))
        throw invalid(`${path}.approval.id`, 'is not the id of the request');
      if (typeof approved !== 'boolean') throw invalid(`${path}.approval.approved`, 'must be true or false');
      if (approved) return { type: 'approve' };
      const text = typeof reason === 'string' ? reason.slice(0, MAX_REASON) : '';
      return { type: 'reject', ...(text !== '' && { reason: text }) };
    }
    case 'output-available':
      return isAnswer(quest, callId) ? toAnswer(output, false, `${path}.output`) : undefined;
    case 'output-error':
      return isAnswer(quest, callId) ? toAnswer(errorText, true, `${path}.errorText`) : undefined;
    default:
      return undefined;
  }
}

function isAnswer({ wait, decided }: QuestRecord, callId: string): boolean {
  if (decided?.some(({ id, type }) => id === callId && type === 'answer') === true) return true;
  return wait?.calls.some(({ id, kind }) => id === callId && kind === 'answer') === true;
}
