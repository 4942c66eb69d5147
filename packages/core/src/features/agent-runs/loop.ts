import type { FinishReason, ModelContent, ModelMessage } from '../../ports/models.ts';
import type { RunContext } from '../../runs/run-context.ts';
import { abortable } from '../../shared/streams.ts';
import {
  type CallResult,
  finishRound,
  mustWait,
  type OpenRound,
  runCall,
  type ToolUse,
  toMessages,
} from '../conversation/tool-calls.ts';
import { type ModelSession, type PausedTurn, type ResumedTurn, readRound } from '../conversation/turn.ts';
import type { NewStep } from './steps.ts';

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
  | { readonly outcome: 'refused'; readonly reason: string }
  | { readonly outcome: 'paused'; readonly turn: PausedTurn };

/**
 * Repeats thought, action and observation until the model answers, or until calls wait for decisions. In the last round it
 * must answer without tools.
 */
export async function runLoop(
  run: RunContext,
  session: ModelSession,
  input: LoopInput,
  resumed?: ResumedTurn,
): Promise<LoopEnd> {
  const rounds: ModelMessage[] = [];
  let { hasSpoken = false } = resumed?.turn ?? {};
  if (resumed !== undefined) {
    const { messages, open } = resumed.turn;
    const getPlace = (position: number) => `${open.iteration}:${position}`;
    const finishing = finishRound(session, open, resumed.calls, getPlace, run.live.emit);
    const round = await abortable(finishing, session.signal);
    await observe(input, round);
    rounds.push(...messages, ...toMessages(round));
  }
  for (let iteration = (resumed?.turn.open.iteration ?? 0) + 1; ; iteration += 1) {
    const isLast = iteration >= input.maxIterations;
    // Providers require the tools of earlier calls in the request.
    const tools = isLast && iteration === 1 ? [] : session.tools();
    const toolChoice = isLast && tools.length > 0 ? 'none' : undefined;
    run.update({ rounds: iteration });
    const answering = await session.ask([...input.messages, ...rounds], tools, { toolChoice });
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
    const { content, uses } = round;
    const results = await act(session, input, uses, iteration);
    for (const [position, { id }] of uses.entries()) {
      const result = results[position];
      if (result) live.result(id, { isError: result.isError });
    }
    const open: OpenRound = { iteration, content, uses, results };
    if (results.includes(null)) {
      return { outcome: 'paused', turn: { messages: rounds, hasSpoken, open } };
    }
    await observe(input, open);
    rounds.push(...toMessages(open));
  }
}

/** Runs the calls of one round in parallel. @returns their results; null: the call waits for a decision. */
async function act(
  session: ModelSession,
  input: LoopInput,
  uses: readonly ToolUse[],
  iteration: number,
): Promise<readonly (CallResult | null)[]> {
  for (const { name, arguments: json } of uses) {
    await input.record({ type: 'action', content: json, iteration, toolName: name });
  }
  const running = Promise.all(
    uses.map(async (use, position) => {
      if (mustWait(session, use)) return null;
      const { content, isError } = await runCall(session, use, `${iteration}:${position}`);
      return { content, isError };
    }),
  );
  // Returns even when the tool ignores the signal.
  return abortable(running, session.signal);
}

/** Records the results of a round, in the order of the calls. */
async function observe(input: LoopInput, { iteration, uses, results }: OpenRound): Promise<void> {
  for (const [position, { name }] of uses.entries()) {
    const content = results[position]?.content ?? '';
    await input.record({ type: 'observation', content, iteration, toolName: name });
  }
}

/** Returns the reasoning of a round without text, as far as its provider shows it. */
function getReasoning(content: readonly ModelContent[]): string {
  return content
    .map((part) =>
      part.type === 'thinking' && typeof part.block.thinking === 'string' ? part.block.thinking : '',
    )
    .join('');
}
