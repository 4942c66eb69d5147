import { listen, parseArguments } from '../chat/turn.ts';
import type { Answering } from '../models/answering.ts';
import type { FinishReason, ModelContent, ModelMessage, ModelPart, ToolSchema } from '../ports/models.ts';
import type { PaidCall } from '../quests/model-call.ts';
import { untilAborted } from '../streams.ts';
import type { ToolResult } from '../tools/registry.ts';
import type { NewStep } from './steps.ts';

type ToolUse = Extract<ModelPart, { type: 'tool_use' }>;

/** What a run stands on. Each is told of what happens at once, so that it can be written down. */
export interface LoopParts {
  readonly messages: readonly ModelMessage[];
  /** What the model is offered, asked before each round. */
  tools(): readonly ToolSchema[];
  /** Rounds of the model. */
  readonly maxIterations: number;
  /** Asks the model, and answers once it has begun. */
  ask(
    messages: readonly ModelMessage[],
    tools: readonly ToolSchema[],
    iteration: number,
  ): Promise<Answering<PaidCall>>;
  /** More of what the model says. */
  said(text: string): void;
  /** A round has come to its end, and is paid for before anything else happens. */
  roundEnded(call: PaidCall): Promise<void>;
  record(step: NewStep): Promise<void>;
  /** Why a tool must not be used, in words for callers; undefined when it may. */
  refusal(name: string): string | undefined;
  /** Runs one call of a tool. Never rejects. */
  runTool(name: string, input: unknown, iteration: number, place: number): Promise<ToolResult>;
  readonly signal: AbortSignal;
}

export type LoopEnd =
  | {
      readonly outcome: 'answered';
      readonly text: string;
      readonly iteration: number;
      readonly finishReason: FinishReason | undefined;
    }
  | { readonly outcome: 'refused'; readonly reason: string };

/**
 * Thought, action, observation, again and again until the model answers. In the last round it is offered no tools, and has
 * to answer.
 */
export async function runLoop(parts: LoopParts): Promise<LoopEnd> {
  const messages = [...parts.messages];
  let hasSpoken = false;
  for (let iteration = 1; ; iteration += 1) {
    const isLast = iteration >= parts.maxIterations;
    const tools = isLast ? [] : parts.tools();
    const answering = await parts.ask(messages, tools, iteration);
    const round = await listen(answering, parts, hasSpoken);
    await parts.roundEnded(answering.money);
    const text = textOf(round.content);
    hasSpoken ||= text !== '';
    if (round.uses.length === 0 || tools.length === 0) {
      return { outcome: 'answered', text, iteration, finishReason: round.finishReason };
    }
    const thought = text === '' ? reasoningOf(round.content) : text;
    if (thought !== '') await parts.record({ type: 'thought', content: thought, iteration });
    for (const { name } of round.uses) {
      const reason = parts.refusal(name);
      if (reason !== undefined) return { outcome: 'refused', reason };
    }
    const results = await act(parts, round.uses, iteration);
    messages.push({ role: 'assistant', content: round.content }, { role: 'user', content: results });
  }
}

/** Runs the calls of one round side by side; their steps stand in the order of the calls. */
async function act(
  parts: LoopParts,
  uses: readonly ToolUse[],
  iteration: number,
): Promise<readonly ModelContent[]> {
  for (const { name, arguments: json } of uses) {
    await parts.record({ type: 'action', content: json, iteration, toolName: name });
  }
  const running = Promise.all(
    uses.map(({ name, arguments: json }, place) => {
      const input = parseArguments(json);
      return input === undefined
        ? { content: 'The arguments were not valid JSON.', isError: true }
        : parts.runTool(name, input, iteration, place);
    }),
  );
  // A tool that does not hear the signal is not waited for.
  const outcomes = await untilAborted(running, parts.signal);
  const results: ModelContent[] = [];
  for (const [place, { id, name }] of uses.entries()) {
    const { content, isError } = outcomes[place] ?? { content: '', isError: true };
    await parts.record({ type: 'observation', content, iteration, toolName: name });
    results.push({ type: 'tool_result', toolUseId: id, toolName: name, content, isError });
  }
  return results;
}

function textOf(content: readonly ModelContent[]): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

/** What a model thought that said nothing aloud, as far as its provider shows it. */
function reasoningOf(content: readonly ModelContent[]): string {
  return content
    .map((part) =>
      part.type === 'thinking' && typeof part.block.thinking === 'string' ? part.block.thinking : '',
    )
    .join('');
}
