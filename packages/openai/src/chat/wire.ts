import type { WireCredits } from '@questline/core/internal';
import type { FinishReason, ThinkingBlock } from '@questline/core/ports';
import type { WireUsage } from '../usage.ts';

/* Answers by the types of the npm package `openai` 7.57.0. Fields without a counterpart there say so. */

export interface WireToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

export interface WireMessage {
  readonly role: 'assistant';
  readonly content: string | null;
  readonly refusal: string | null;
  readonly tool_calls?: WireToolCall[];
  /** The text of the reasoning, in the field that other vendors of this protocol use. */
  readonly reasoning_content?: string;
  /** Blocks of reasoning. Clients that send them back unchanged keep the reasoning over rounds. Not the vendor's. */
  readonly reasoning_details?: ThinkingBlock[];
}

export type WireFinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

export interface ChatCompletion {
  readonly id: string;
  readonly object: 'chat.completion';
  readonly created: number;
  readonly model: string;
  readonly choices: {
    readonly index: number;
    readonly message: WireMessage;
    readonly logprobs: null;
    readonly finish_reason: WireFinishReason;
  }[];
  readonly usage: WireUsage;
  /** Not the vendor's. Absent while credits are not enforced. */
  readonly credits?: WireCredits;
}

export interface ChunkDelta {
  readonly role?: 'assistant';
  readonly content?: string;
  readonly tool_calls?: readonly (WireToolCall & { readonly index: number })[];
  readonly reasoning_content?: string;
  readonly reasoning_details?: readonly ThinkingBlock[];
}

export interface ChatCompletionChunk {
  readonly id: string;
  readonly object: 'chat.completion.chunk';
  readonly created: number;
  readonly model: string;
  readonly choices: {
    readonly index: number;
    readonly delta: ChunkDelta;
    readonly logprobs: null;
    readonly finish_reason: WireFinishReason | null;
  }[];
  readonly usage?: WireUsage | null;
  readonly credits?: WireCredits;
}

/** @param hasCalls whether the answer has complete tool calls. */
export function toFinishReason(reason: FinishReason | undefined, hasCalls: boolean): WireFinishReason {
  if (reason === 'max_tokens') return 'length';
  if (reason === 'content_filter') return 'content_filter';
  return hasCalls ? 'tool_calls' : 'stop';
}
