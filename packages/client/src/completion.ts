import type { Client } from './client.ts';
import type { Frame } from './events.ts';
import type { CallOptions } from './operation.ts';
import {
  type CreateCompletionRequest,
  type CreateCompletionResponse,
  createCompletion,
} from './operations.ts';

export type CompletionFrame = Frame<CreateCompletionResponse>;
export type ToolCall = Extract<CompletionFrame, { type: 'tool_use' }>['tools'][number];
type Ending = Extract<CompletionFrame, { type: 'content' }>;

/** A whole completion. */
export interface Completion {
  readonly text: string;
  /** The tool calls of the answer: run them, and send the results. */
  readonly tools: readonly ToolCall[];
  readonly usage: Ending['usage'];
  readonly credits: Ending['credits'];
  /** `max_tokens`: the output cap cut the answer. */
  readonly stopReason: string | undefined;
}

/**
 * Streams a completion. The request starts with the loop; leaving the loop stops the model. A failure inside the
 * stream throws a QuestlineError with the charge.
 * @example
 * for await (const frame of complete(client, { model, messages })) {
 *   if (frame.type === 'content') show(frame.text);
 * }
 */
export async function* complete(
  client: Client,
  request: CreateCompletionRequest,
  options: CallOptions = {},
): AsyncGenerator<CompletionFrame, void> {
  yield* await client.call(createCompletion, { body: request }, options);
}

/** Joins the frames of a completion. */
export async function collect(frames: AsyncIterable<CompletionFrame>): Promise<Completion> {
  const tools: ToolCall[] = [];
  let text = '';
  let ending: Pick<Ending, 'usage' | 'credits' | 'stopReason'> = {};
  for await (const frame of frames) {
    // Later versions add types of frames.
    if (frame.type !== 'content' && frame.type !== 'tool_use') continue;
    text += frame.text;
    if (frame.type === 'tool_use') tools.push(...frame.tools);
    ending = frame;
  }
  return { text, tools, usage: ending.usage, credits: ending.credits, stopReason: ending.stopReason };
}
