import { checkQuest, type Quest, type QuestlineError } from '@questline/client';
import type { GetQuestEventsResponse } from '@questline/client/operations';
import { toError } from './error.ts';

type Snapshot = Extract<GetQuestEventsResponse, { type: 'snapshot' }>;

/** A tool call of the model. Without `isError` it has not ended. */
export type ToolUse = Snapshot['tools'][number];
/** Data of a tool for the user interface. */
export type ToolPayload = Snapshot['payloads'][number];

/** A tool call that waits for a decision, or for its result. */
export type PendingApproval = Pick<
  NonNullable<Quest['pendingApprovals']>[number],
  'callId' | 'tool' | 'kind' | 'input'
>;

/** What a quest has done so far. */
export interface QuestState {
  /** `stopped`: cancelled. `failed`: `error` says why. */
  readonly status: 'idle' | 'running' | 'done' | 'failed' | 'stopped';
  /** The answer so far. */
  readonly text: string;
  readonly reasoning: string;
  readonly tools: readonly ToolUse[];
  readonly payloads: readonly ToolPayload[];
  /** The calls to decide about: only for messages with `approvals: true`. The quest waits until all are decided. */
  readonly approvals: readonly PendingApproval[];
  /** The quest as the API returns it, with the files, models and credits of its end. */
  readonly quest: Quest | undefined;
  readonly error: QuestlineError | undefined;
}

export const IDLE: QuestState = {
  ...{ status: 'idle', text: '', reasoning: '', tools: [], payloads: [], approvals: [] },
  ...{ quest: undefined, error: undefined },
};

export const RUNNING: QuestState = { ...IDLE, status: 'running' };

export function isOver({ status }: QuestState): boolean {
  return status !== 'idle' && status !== 'running';
}

/** Returns the state after an event. Events of unknown types change nothing. */
export function applyEvent(state: QuestState, event: GetQuestEventsResponse): QuestState {
  switch (event.type) {
    case 'snapshot': {
      const { text, reasoning, tools, payloads, state: quest } = event;
      const approvals = (quest.pendingApprovals ?? []).filter(({ decision }) => decision === undefined);
      return { ...state, text, reasoning, tools, payloads, approvals, quest };
    }
    case 'text':
      return { ...state, text: state.text + event.text };
    case 'reasoning':
      return { ...state, reasoning: state.reasoning + event.text };
    case 'tool-start': {
      const { id, name } = event;
      return { ...state, tools: [...state.tools, { id, name, arguments: '' }] };
    }
    case 'tool-delta':
      return changeTool(state, event.id, (tool) => ({ ...tool, arguments: tool.arguments + event.text }));
    case 'tool-result':
      return changeTool(state, event.id, (tool) => ({ ...tool, isError: event.isError }));
    case 'approval-requested': {
      const { id: callId, tool, kind, input } = event;
      return { ...state, approvals: [...withoutCall(state, callId), { callId, tool, kind, input }] };
    }
    case 'approval-decided':
      return { ...state, approvals: withoutCall(state, event.id) };
    case 'payload': {
      const payloads = [...state.payloads];
      payloads[event.index] = event.payload;
      return { ...state, payloads };
    }
    case 'reset-step':
      return { ...state, text: event.text, reasoning: '', tools: [], payloads: [], approvals: [] };
    case 'end':
      return toEnd(state, event.state);
    default:
      return state;
  }
}

function changeTool(state: QuestState, id: string, change: (tool: ToolUse) => ToolUse): QuestState {
  return { ...state, tools: state.tools.map((tool) => (tool.id === id ? change(tool) : tool)) };
}

function withoutCall({ approvals }: QuestState, id: string): readonly PendingApproval[] {
  return approvals.filter(({ callId }) => callId !== id);
}

function toEnd(state: QuestState, quest: Quest): QuestState {
  const ended = { ...state, quest, payloads: quest.toolPayloads, approvals: [] };
  try {
    checkQuest(quest);
  } catch (error) {
    // `reply` is the failure: the text is what the model has written until then.
    return { ...ended, status: 'failed', error: toError(error) };
  }
  if (quest.status === 'stopped') return { ...ended, status: 'stopped' };
  return { ...ended, status: 'done', text: quest.reply ?? '' };
}
