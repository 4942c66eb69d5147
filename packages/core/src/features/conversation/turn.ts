import { type Answering, readAnswer } from '../../models/answering.ts';
import { CAP_SPENT } from '../../models/output-cap.ts';
import type {
  FinishReason,
  ModelContent,
  ModelMessage,
  ModelPart,
  ToolChoice,
  ToolSchema,
} from '../../ports/models.ts';
import type { LiveRound, StartLiveRound } from '../../runs/live-round.ts';
import type { PaidCall } from '../../runs/model-call.ts';
import type { ToolResult } from '../../tools/registry.ts';

type ToolUse = Extract<ModelPart, { type: 'tool_use' }>;
type ToolResultContent = Extract<ModelContent, { type: 'tool_result' }>;

/** The model's output in one round. */
export interface Round {
  /** In the order of arrival: providers reject reordered reasoning. */
  readonly content: ModelContent[];
  /** The visible text. */
  readonly text: string;
  readonly uses: readonly ToolUse[];
  readonly finishReason: FinishReason | undefined;
}

/** The model and the tools of a turn. */
export interface ModelSession {
  /** The currently offered tools; a tool call may add more. */
  tools(): readonly ToolSchema[];
  /** Calls the model; resolves when its answer begins. */
  ask(
    messages: readonly ModelMessage[],
    tools: readonly ToolSchema[],
    options?: AskOptions,
  ): Promise<Answering<PaidCall>>;
  /** Charges a round that has ended; tools come next. */
  endRound(call: PaidCall): Promise<void>;
  /** Runs one tool call. Never rejects. `place`: the position of the call in the quest, the same after a restart. */
  runTool(name: string, input: unknown, place: string): Promise<ToolResult>;
  readonly signal: AbortSignal;
}

export interface AskOptions {
  /** Absent: the model may call tools. */
  readonly toolChoice?: ToolChoice | undefined;
  /** Output cap of a small task, reasoning excluded; never more than the requested cap. */
  readonly taskTokens?: number;
}

/** The input of one turn. */
export interface Turn {
  readonly messages: readonly ModelMessage[];
  /** Maximum tool calls in the whole turn. */
  readonly maxToolCalls: number;
  /** Prefix of the places of tool calls, if the quest runs several turns. */
  readonly place?: string;
  /** Receives further text of the answer at once, so that it can be persisted. */
  onText(text: string): void;
  /** Receives the events of the turn. Absent: they are not shown. */
  readonly startRound?: StartLiveRound;
}

const BLOCKED = "The model provider's safety rules blocked the answer.";
const STILL_CALLING = 'The model exceeded the maximum number of tool calls, and gave no answer.';

/** Returns why the last round has no text, as a message for callers; undefined when it has text, or needs none. */
export function whyEmpty(reason: FinishReason | undefined, lastText: string): string | undefined {
  if (lastText !== '') return undefined;
  if (reason === 'max_tokens') return CAP_SPENT;
  if (reason === 'content_filter') return BLOCKED;
  return reason === 'tool_use' ? STILL_CALLING : undefined;
}

const BETWEEN_ROUNDS = '\n\n';

/** The result of a turn. */
export interface TurnEnd {
  readonly finishReason: FinishReason | undefined;
  /** The text of the last round. */
  readonly lastText: string;
}

/** Runs one turn: calls the model, runs its tool calls, and calls it again with the results, until it answers. */
export async function runTurn(session: ModelSession, turn: Turn): Promise<TurnEnd> {
  const messages = [...turn.messages];
  let used = 0;
  let hasSpoken = false;
  for (let iteration = 1; ; iteration += 1) {
    const mustAnswer = used >= turn.maxToolCalls;
    // After the last allowed call the tools stay in the request, because a history with calls requires them.
    const tools = mustAnswer && used === 0 ? [] : session.tools();
    const toolChoice = mustAnswer && tools.length > 0 ? 'none' : undefined;
    const answering = await session.ask(messages, tools, { toolChoice });
    const live = turn.startRound?.(iteration);
    const round = await readRound(answering, session.signal, turn.onText, { hasSpoken, live });
    hasSpoken ||= round.text !== '';
    if (round.uses.length === 0 || tools.length === 0 || mustAnswer) {
      return { finishReason: round.finishReason, lastText: round.text };
    }
    await session.endRound(answering.money);
    const first = used;
    const results = await Promise.all(
      round.uses.map(async (use, index) => {
        const result = await toResult(session, turn, use, first + index);
        live?.result(use.id, result);
        return result;
      }),
    );
    used += round.uses.length;
    session.signal.throwIfAborted();
    messages.push({ role: 'assistant', content: round.content }, { role: 'user', content: results });
  }
}

/** Reads one answer to its end, unless the turn is aborted. */
export async function readRound(
  answering: Answering<PaidCall>,
  signal: AbortSignal,
  onText: (text: string) => void,
  options: {
    /** An earlier round had text: this one begins a new paragraph. */
    readonly hasSpoken?: boolean;
    /** Receives the parts for readers of the quest's events. */
    readonly live?: LiveRound | undefined;
  } = {},
): Promise<Round> {
  const { hasSpoken = false, live } = options;
  const content: ModelContent[] = [];
  const uses: ToolUse[] = [];
  let text = '';

  await readAnswer(answering, signal, (part) => {
    live?.part(part);
    switch (part.type) {
      case 'text':
        if (part.text === '') break;
        onText(hasSpoken && text === '' ? BETWEEN_ROUNDS + part.text : part.text);
        text += part.text;
        addText(content, part.text);
        break;
      case 'thinking':
        content.push({ type: 'thinking', block: part.block });
        break;
      case 'tool_use':
        uses.push(part);
        content.push({
          type: 'tool_use',
          id: part.id,
          name: part.name,
          input: parseArguments(part.arguments) ?? {},
        });
        break;
      default:
        break;
    }
  });
  return { content, text, uses, finishReason: answering.money.meter.finishReason };
}

/** Consecutive chunks of text form one block. */
function addText(content: ModelContent[], piece: string): void {
  const last = content.at(-1);
  if (last?.type === 'text') content[content.length - 1] = { type: 'text', text: last.text + piece };
  else content.push({ type: 'text', text: piece });
}

async function toResult(
  session: ModelSession,
  turn: Turn,
  use: ToolUse,
  number: number,
): Promise<ToolResultContent> {
  const result = await runToolUse(session, turn, use, number);
  return {
    type: 'tool_result',
    toolUseId: use.id,
    toolName: use.name,
    content: result.content,
    isError: result.isError,
  };
}

async function runToolUse(
  session: ModelSession,
  { maxToolCalls, place }: Turn,
  { name, arguments: json }: ToolUse,
  /** The position of the call in the turn, from 0. */
  number: number,
): Promise<ToolResult> {
  if (number >= maxToolCalls) {
    return {
      content: 'No more tool calls are allowed in this turn. Answer with what you have.',
      isError: true,
    };
  }
  const input = parseArguments(json);
  if (input === undefined) return { content: 'The arguments were not valid JSON.', isError: true };
  return session.runTool(name, input, place === undefined ? String(number) : `${place}:${number}`);
}

/** Parses the arguments of a call; some models send none for a tool without input. @returns undefined for invalid JSON. */
export function parseArguments(json: string): unknown {
  if (json.trim() === '') return {};
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
}
