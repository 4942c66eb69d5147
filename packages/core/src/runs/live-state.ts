import type { EventLog, SequencedEvent } from '../ports/event-log.ts';
import type { LiveEvent } from './live-event.ts';
import type { PromptMeta, ToolPayload } from './records.ts';

/** A tool call as far as it is known. */
export interface LiveTool {
  readonly id: string;
  readonly name: string;
  /** The arguments so far, as JSON text. */
  readonly arguments: string;
  /** Absent: the call has not ended. */
  readonly isError?: boolean;
}

/** What all events up to `last` amount to. */
export interface LiveState {
  readonly last: number;
  readonly text: string;
  readonly reasoning: string;
  /** The round, from 1; 0 before the first. */
  readonly iteration: number;
  readonly tools: readonly LiveTool[];
  readonly payloads: readonly ToolPayload[];
  readonly usage?: PromptMeta;
}

export const EMPTY_STATE: LiveState = {
  last: 0,
  text: '',
  reasoning: '',
  iteration: 0,
  tools: [],
  payloads: [],
};

/** Joins the text of a stream. Empty: it has none, or has expired. */
export async function readLiveText(eventLog: EventLog, stream: string): Promise<string> {
  let state = EMPTY_STATE;
  for (;;) {
    const page = await eventLog.read(stream, state.last);
    if (page === undefined || page.length === 0) return state.text;
    state = applyEvents(state, page);
  }
}

export function applyEvents(state: LiveState, events: readonly SequencedEvent[]): LiveState {
  let next = state;
  for (const { sequence, event } of events) {
    next = { ...applyEvent(next, event as unknown as LiveEvent), last: sequence };
  }
  return next;
}

function applyEvent(state: LiveState, event: LiveEvent): LiveState {
  switch (event.type) {
    case 'text':
      return { ...state, text: state.text + event.text };
    case 'reasoning':
      return { ...state, reasoning: state.reasoning + event.text };
    case 'tool-start':
      return { ...state, tools: [...state.tools, { id: event.id, name: event.name, arguments: '' }] };
    case 'tool-delta':
      return changeTool(state, event.id, (tool) => ({ ...tool, arguments: tool.arguments + event.text }));
    case 'tool-result':
      return changeTool(state, event.id, (tool) => ({ ...tool, isError: event.isError }));
    case 'step':
      return { ...state, iteration: event.iteration };
    case 'payload': {
      const payloads = [...state.payloads];
      payloads[event.index] = event.payload;
      return { ...state, payloads };
    }
    case 'usage': {
      const { type: _type, ...usage } = event;
      return { ...state, usage };
    }
    case 'reset-step':
      return { ...EMPTY_STATE, text: event.text };
    default:
      // An event of a newer version.
      return state;
  }
}

function changeTool(state: LiveState, id: string, change: (tool: LiveTool) => LiveTool): LiveState {
  return { ...state, tools: state.tools.map((tool) => (tool.id === id ? change(tool) : tool)) };
}
