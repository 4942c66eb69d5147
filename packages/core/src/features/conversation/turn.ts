import { readAnswer } from '../../models/answer-stream.ts';
import type { Answering } from '../../models/answering.ts';
import { CAP_SPENT } from '../../models/output-cap.ts';
import type { FinishReason, ModelContent, ModelMessage, ToolChoice, ToolSchema } from '../../ports/models.ts';
import type { LiveEvent } from '../../runs/live-event.ts';
import type { LiveRound, StartLiveRound } from '../../runs/live-round.ts';
import type { PaidCall } from '../../runs/model-call.ts';
import type { WaitingCall } from '../../runs/records.ts';
import type { ToolResult } from '../../tools/registry.ts';
import { parseArguments } from './json.ts';
import {
  type CallResult,
  finishRound,
  mustWait,
  type OpenRound,
  runCall,
  type ToolUse,
  toMessages,
} from './tool-calls.ts';

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
  /**
   * Runs one tool call. Never rejects. `place`: the position of the call in the quest, the same after a restart.
   * @param isDecided the user has approved the call.
   */
  runTool(name: string, input: unknown, place: string, isDecided?: boolean): Promise<ToolResult>;
  /** Returns what the calls of a tool wait for; undefined: nothing. `tool`: its id. */
  waitsFor(name: string): (Pick<WaitingCall, 'kind'> & { readonly tool: string }) | undefined;
  /** The state that a later session needs to continue. */
  getState(): SessionState;
  readonly signal: AbortSignal;
}

/** Plain JSON. */
export interface SessionState {
  /** The id of the model that answers. */
  readonly model: string;
  /** The ids of the offered tools. */
  readonly tools: readonly string[];
}

/** A session for a small turn within the turn, which cannot wait: without the tools whose calls wait. */
export function withoutWaiting(session: ModelSession): ModelSession {
  return {
    ...session,
    tools: () => session.tools().filter(({ name }) => session.waitsFor(name) === undefined),
    waitsFor: () => undefined,
  };
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
  /** Receives the events of decided calls. Absent: they are not shown. */
  emit?(event: LiveEvent): void;
}

/** A turn whose last round has calls that wait. Plain JSON. */
export interface PausedTurn {
  /** The complete rounds. */
  readonly messages: readonly ModelMessage[];
  /** The calls so far, those of the open round included. Absent: the loop counts rounds. */
  readonly used?: number;
  readonly hasSpoken: boolean;
  readonly open: OpenRound;
}

/** A paused turn and its decided calls. */
export interface ResumedTurn {
  readonly turn: PausedTurn;
  readonly calls: readonly WaitingCall[];
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

const NO_MORE_CALLS: CallResult = {
  content: 'No more tool calls are allowed in this turn. Answer with what you have.',
  isError: true,
};

/** The result of a turn. */
export interface TurnEnd {
  readonly paused?: undefined;
  readonly finishReason: FinishReason | undefined;
  /** The text of the last round. */
  readonly lastText: string;
}

/** The turn waits for decisions. */
export interface TurnPause {
  readonly paused: PausedTurn;
}

/**
 * Runs one turn: calls the model, runs its tool calls, and calls it again with the results, until it answers, or until
 * calls wait for decisions.
 */
export async function runTurn(
  session: ModelSession,
  turn: Turn,
  resumed?: ResumedTurn,
): Promise<TurnEnd | TurnPause> {
  const { place, maxToolCalls } = turn;
  const getPlace = (number: number): string => (place === undefined ? String(number) : `${place}:${number}`);
  const rounds: ModelMessage[] = [];
  let { used = 0, hasSpoken = false } = resumed?.turn ?? {};
  if (resumed !== undefined) {
    const { messages, open } = resumed.turn;
    const first = used - open.uses.length;
    const emit = (event: LiveEvent): void => turn.emit?.(event);
    const round = await finishRound(session, open, resumed.calls, (at) => getPlace(first + at), emit);
    session.signal.throwIfAborted();
    rounds.push(...messages, ...toMessages(round));
  }
  for (let iteration = (resumed?.turn.open.iteration ?? 0) + 1; ; iteration += 1) {
    const mustAnswer = used >= maxToolCalls;
    // After the last allowed call the tools stay in the request, because a history with calls requires them.
    const tools = mustAnswer && used === 0 ? [] : session.tools();
    const toolChoice = mustAnswer && tools.length > 0 ? 'none' : undefined;
    const answering = await session.ask([...turn.messages, ...rounds], tools, { toolChoice });
    const live = turn.startRound?.(iteration);
    const { content, text, uses, finishReason } = await readRound(answering, session.signal, turn.onText, {
      hasSpoken,
      live,
    });
    hasSpoken ||= text !== '';
    if (uses.length === 0 || tools.length === 0 || mustAnswer) return { finishReason, lastText: text };
    await session.endRound(answering.money);
    const first = used;
    const results = await Promise.all(
      uses.map(async (use, at) => {
        const isAllowed = first + at < maxToolCalls;
        if (isAllowed && mustWait(session, use)) return null;
        const result = isAllowed ? await runCall(session, use, getPlace(first + at)) : NO_MORE_CALLS;
        live?.result(use.id, result);
        return { content: result.content, isError: result.isError };
      }),
    );
    used += uses.length;
    session.signal.throwIfAborted();
    const open: OpenRound = { iteration, content, uses, results };
    if (results.includes(null)) return { paused: { messages: rounds, used, hasSpoken, open } };
    rounds.push(...toMessages(open));
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
