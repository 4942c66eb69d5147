import type { WireCredits } from '@questline/core/internal';
import type { FinishReason } from '@questline/core/ports';
import type { MessageUsage } from '../usage.ts';

/* Answers by the types of the npm package `@anthropic-ai/sdk` 1.12.0. Fields without a counterpart there say so. */

/** A reasoning block of the vendor, or of another model in the same form. */
export type ThoughtBlock =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string };

export type ContentBlock =
  | { readonly type: 'text'; readonly text: string; readonly citations: null }
  | ThoughtBlock
  | {
      readonly type: 'tool_use';
      readonly id: string;
      readonly name: string;
      readonly input: unknown;
      readonly caller: { readonly type: 'direct' };
    };

export type BlockDelta =
  | { readonly type: 'text_delta'; readonly text: string }
  | { readonly type: 'thinking_delta'; readonly thinking: string }
  | { readonly type: 'signature_delta'; readonly signature: string }
  | { readonly type: 'input_json_delta'; readonly partial_json: string };

export type StopReason = 'end_turn' | 'stop_sequence' | 'max_tokens' | 'tool_use' | 'refusal';

/** Why an answer ended. `stop_sequence` is null where the provider does not report it. */
export interface WireStop {
  readonly stop_reason: StopReason | null;
  readonly stop_sequence: string | null;
  readonly stop_details: null;
}

export interface WireMessage extends WireStop {
  readonly id: string;
  readonly type: 'message';
  readonly role: 'assistant';
  readonly model: string;
  readonly content: readonly ContentBlock[];
  readonly container: null;
  readonly diagnostics: null;
  readonly usage: MessageUsage;
  /** Not the vendor's. Absent while credits are not enforced. */
  readonly credits?: WireCredits;
}

/** @param hasCalls whether the answer has complete tool calls. */
export function toStop(
  reason: FinishReason | undefined,
  hasCalls: boolean,
  stopSequence: string | undefined,
): WireStop {
  const isStopped = reason === 'stop' && !hasCalls && stopSequence !== undefined;
  return {
    stop_reason: isStopped ? 'stop_sequence' : toStopReason(reason, hasCalls),
    stop_sequence: isStopped ? stopSequence : null,
    stop_details: null,
  };
}

function toStopReason(reason: FinishReason | undefined, hasCalls: boolean): StopReason {
  if (reason === 'max_tokens') return 'max_tokens';
  if (reason === 'content_filter') return 'refusal';
  return hasCalls ? 'tool_use' : 'end_turn';
}

export function emptyMessage({ id, model, usage }: Pick<WireMessage, 'id' | 'model' | 'usage'>): WireMessage {
  return {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
    usage,
  };
}
