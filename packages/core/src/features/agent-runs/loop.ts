import type { FinishReason, ModelContent, ModelMessage, ModelPart } from '../../ports/models.ts';
import type { LiveRound } from '../../runs/live-round.ts';
import type { RunContext } from '../../runs/run-context.ts';
import { abortable } from '../../shared/streams.ts';
import { type ModelSession, parseArguments, readRound } from '../conversation/turn.ts';
import type { NewStep } from './steps.ts';

type ToolUse = Extract<ModelPart, { type: 'tool_use' }>;

/** The input of a run. */
export interface LoopInput {
  readonly messages: readonly ModelMessage[];
  /** Maximum number of model rounds. */
  readonly maxIterations: number;
  /** Persists a step at once. */
  record(step: NewStep): Promise<void>;
  /** Returns why a tool must not be called, as a message for callers; undefined when it may. */
  refusal(name: string): string | undefined;
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
 * Repeats thought, action and observation until the model answers. In the last round it must answer without tools.
 */
export async function runLoop(run: RunContext, session: ModelSession, input: LoopInput): Promise<LoopEnd> {
  const messages = [...input.messages];
  let hasSpoken = false;
  for (let iteration = 1; ; iteration += 1) {
    const isLast = iteration >= input.maxIterations;
    // Providers require the tools of earlier calls in the request.
    const tools = isLast && iteration === 1 ? [] : session.tools();
    const toolChoice = isLast && tools.length > 0 ? 'none' : undefined;
    run.update({ rounds: iteration });
    const answering = await session.ask(messages, tools, { toolChoice });
    const live = run.live.startRound(iteration);
    const round = await readRound(answering, session.signal, run.writer.append, { hasSpoken, live });
    await session.endRound(answering.money);
    const { text } = round;
    hasSpoken ||= text !== '';
    if (round.uses.length === 0 || tools.length === 0 || isLast) {
      return { outcome: 'answered', text, iteration, finishReason: round.finishReason };
    }
    const thought = text === '' ? getReasoning(round.content) : text;
    if (thought !== '') await input.record({ type: 'thought', content: thought, iteration });
    for (const { name } of round.uses) {
      const reason = input.refusal(name);
      if (reason !== undefined) return { outcome: 'refused', reason };
    }
    const results = await act(session, input, round.uses, iteration, live);
    messages.push({ role: 'assistant', content: round.content }, { role: 'user', content: results });
  }
}

/** Runs the calls of one round in parallel; the steps keep the order of the calls. */
async function act(
  session: ModelSession,
  input: LoopInput,
  uses: readonly ToolUse[],
  iteration: number,
  live: LiveRound,
): Promise<readonly ModelContent[]> {
  for (const { name, arguments: json } of uses) {
    await input.record({ type: 'action', content: json, iteration, toolName: name });
  }
  const running = Promise.all(
    uses.map(({ name, arguments: json }, place) => {
      const parsed = parseArguments(json);
      return parsed === undefined
        ? { content: 'The arguments were not valid JSON.', isError: true }
        : session.runTool(name, parsed, `${iteration}:${place}`);
    }),
  );
  // Returns even when the tool ignores the signal.
  const outcomes = await abortable(running, session.signal);
  const results: ModelContent[] = [];
  for (const [place, { id, name }] of uses.entries()) {
    const { content, isError } = outcomes[place] ?? { content: '', isError: true };
    live.result(id, { isError });
    await input.record({ type: 'observation', content, iteration, toolName: name });
    results.push({ type: 'tool_result', toolUseId: id, toolName: name, content, isError });
  }
  return results;
}

/** Returns the reasoning of a round without text, as far as its provider shows it. */
function getReasoning(content: readonly ModelContent[]): string {
  return content
    .map((part) =>
      part.type === 'thinking' && typeof part.block.thinking === 'string' ? part.block.thinking : '',
    )
    .join('');
}
