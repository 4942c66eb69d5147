import type { AnswerPart } from '../ports/models.ts';
import type { Json } from '../ports/store.ts';
import type { CallDecision, PromptMeta, ToolPayload, WaitingCall } from './records.ts';

/**
 * One event of running work, as stored in the event log and sent to readers. `id` of a tool call: unique within an
 * attempt.
 */
export type LiveEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'tool-start'; readonly id: string; readonly name: string }
  /** The next fragment of the call's arguments, as JSON text. */
  | { readonly type: 'tool-delta'; readonly id: string; readonly text: string }
  | { readonly type: 'tool-result'; readonly id: string; readonly name: string; readonly isError: boolean }
  /** The call waits for a decision, or for its result from the client. */
  | {
      readonly type: 'approval-requested';
      readonly id: string;
      readonly tool: string;
      readonly kind: WaitingCall['kind'];
      readonly input: Json;
    }
  | { readonly type: 'approval-decided'; readonly id: string; readonly decision: CallDecision['type'] }
  /** A model round begins, or an agent run has recorded a step. `iteration`: the round, from 1. */
  | { readonly type: 'step'; readonly iteration: number; readonly step?: LiveStep }
  /** Replaces the data for the user interface at this position. */
  | { readonly type: 'payload'; readonly index: number; readonly payload: ToolPayload }
  /** All usage so far. */
  | ({ readonly type: 'usage' } & PromptMeta)
  /** A part of the answer, unchanged: of work that stores its parts. `at`: its place among them, from 0. */
  | { readonly type: 'part'; readonly at: number; readonly part: AnswerPart }
  /** A new attempt: everything before it is void, and the text is this one. */
  | { readonly type: 'reset-step'; readonly text: string };

/** A recorded step of an agent run. */
export interface LiveStep {
  readonly type: string;
  readonly content: string;
  readonly tool_name?: string;
}

/** How long events are kept after their work has ended, or has begun to wait, in milliseconds. */
export const KEEP_AFTER_END_MS = 15 * 60_000;

/** How long events of work that never ends are kept, in milliseconds. */
export const KEEP_RUNNING_MS = 24 * 3_600_000;

/** Maximum characters of a text that is joined from fragments. */
const MAX_JOINED = 65_536;

/** The topic of the news of one stream. */
export function getLiveTopic(stream: string): string {
  return `events.${stream}`;
}

/**
 * Adds an event to a batch. Joins consecutive fragments of one text, and keeps only the last payload of a position.
 */
export function addToBatch(batch: LiveEvent[], event: LiveEvent): void {
  const last = batch.at(-1);
  if (event.type === 'payload') {
    const earlier = batch.findIndex((one) => one.type === 'payload' && one.index === event.index);
    if (earlier >= 0) batch.splice(earlier, 1);
    batch.push(event);
    return;
  }
  const joined = last === undefined ? undefined : joinFragments(last, event);
  if (joined === undefined) batch.push(event);
  else batch[batch.length - 1] = joined;
}

function joinFragments(last: LiveEvent, next: LiveEvent): LiveEvent | undefined {
  switch (next.type) {
    case 'text':
    case 'reasoning':
      return last.type === next.type && fits(last, next)
        ? { type: next.type, text: last.text + next.text }
        : undefined;
    case 'tool-delta':
      return last.type === 'tool-delta' && last.id === next.id && fits(last, next)
        ? { type: 'tool-delta', id: next.id, text: last.text + next.text }
        : undefined;
    default:
      return undefined;
  }
}

function fits(last: { readonly text: string }, next: { readonly text: string }): boolean {
  return last.text.length + next.text.length <= MAX_JOINED;
}
