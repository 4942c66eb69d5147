import type { Answering } from '../models/answering.ts';
import type { FinishReason, ModelContent, ModelMessage, ModelPart, ToolSchema } from '../ports/models.ts';
import type { PaidCall } from '../quests/model-call.ts';
import { leave, untilAborted } from '../streams.ts';
import type { ToolResult } from '../tools/registry.ts';

type ToolUse = Extract<ModelPart, { type: 'tool_use' }>;

/** What the model said in one round. */
export interface Round {
  readonly content: ModelContent[];
  readonly uses: readonly ToolUse[];
  readonly finishReason: FinishReason | undefined;
}

/** What a turn stands on. Each is told of what happens at once, so that it can be written down. */
export interface TurnParts {
  readonly messages: readonly ModelMessage[];
  /** What the model is offered, asked before each round. */
  tools(): readonly ToolSchema[];
  /** Calls of tools in the whole turn. */
  readonly maxToolCalls: number;
  /** Asks the model, and answers once it has begun. */
  ask(messages: readonly ModelMessage[], tools: readonly ToolSchema[]): Promise<Answering<PaidCall>>;
  /** More of the answer. */
  said(text: string): void;
  /** A round has come to its end and is paid for; tools come next. */
  roundEnded(call: PaidCall): Promise<void>;
  /** Runs one call of a tool. Never rejects. `place`: which call of the turn it is, from 0. */
  runTool(name: string, input: unknown, place: number): Promise<ToolResult>;
  readonly signal: AbortSignal;
}

const BETWEEN_ROUNDS = '\n\n';

/** One turn: ask the model, run what it asks for, ask again with the results, until it answers. */
export async function runTurn(parts: TurnParts): Promise<FinishReason | undefined> {
  const messages = [...parts.messages];
  let used = 0;
  let hasSpoken = false;
  for (;;) {
    // Once the calls are used up no tools are offered: the model has to answer.
    const tools = used < parts.maxToolCalls ? parts.tools() : [];
    const answering = await parts.ask(messages, tools);
    const round = await listen(answering, parts, hasSpoken);
    hasSpoken ||= round.content.some(({ type }) => type === 'text');
    if (round.uses.length === 0 || tools.length === 0) return round.finishReason;
    await parts.roundEnded(answering.money);
    const place = used;
    const results = await Promise.all(round.uses.map((use, index) => resultOf(parts, use, place + index)));
    used += round.uses.length;
    parts.signal.throwIfAborted();
    messages.push({ role: 'assistant', content: round.content }, { role: 'user', content: results });
  }
}

/** Reads one answer to its end, unless the turn is broken off; then the model is told to stop, but not waited for. */
export async function listen(
  { chunks, money }: Answering<PaidCall>,
  { said, signal }: Pick<TurnParts, 'said' | 'signal'>,
  hasSpoken: boolean,
): Promise<Round> {
  const { meter } = money;
  const content: ModelContent[] = [];
  const uses: ToolUse[] = [];
  let text = '';

  const hear = (part: ModelPart): void => {
    meter.see(part);
    switch (part.type) {
      case 'text':
        if (part.text === '') break;
        said(hasSpoken && text === '' ? BETWEEN_ROUNDS + part.text : part.text);
        text += part.text;
        break;
      case 'thinking':
        content.push({ type: 'thinking', block: part.block });
        break;
      case 'tool_use':
        uses.push(part);
        break;
      default:
        break;
    }
  };

  const read = async (): Promise<void> => {
    for (;;) {
      const step = await chunks.next();
      if (step.done === true || signal.aborted) return;
      if (Array.isArray(step.value)) for (const part of step.value as readonly ModelPart[]) hear(part);
      else hear(step.value as ModelPart);
    }
  };

  try {
    await untilAborted(read(), signal);
  } catch (error) {
    leave(chunks);
    throw error;
  }
  if (text !== '') content.push({ type: 'text', text });
  for (const { id, name, arguments: json } of uses) {
    content.push({ type: 'tool_use', id, name, input: parseArguments(json) ?? {} });
  }
  return { content, uses, finishReason: meter.finishReason };
}

async function resultOf(parts: TurnParts, use: ToolUse, place: number): Promise<ModelContent> {
  const result = await outcomeOf(parts, use, place);
  return {
    type: 'tool_result',
    toolUseId: use.id,
    toolName: use.name,
    content: result.content,
    isError: result.isError,
  };
}

async function outcomeOf(
  parts: TurnParts,
  { name, arguments: json }: ToolUse,
  place: number,
): Promise<ToolResult> {
  if (place >= parts.maxToolCalls) {
    return {
      content: 'No more tool calls are allowed in this turn. Answer with what you have.',
      isError: true,
    };
  }
  const input = parseArguments(json);
  if (input === undefined) return { content: 'The arguments were not valid JSON.', isError: true };
  return parts.runTool(name, input, place);
}

/** Some models write nothing for a tool that takes nothing. @returns undefined when it is no JSON. */
export function parseArguments(json: string): unknown {
  if (json.trim() === '') return {};
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
}
