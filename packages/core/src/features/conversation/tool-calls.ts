import type { ModelContent, ModelMessage, ModelPart } from '../../ports/models.ts';
import type { Json } from '../../ports/store.ts';
import type { LiveEvent } from '../../runs/live-event.ts';
import type { CallDecision, WaitingCall } from '../../runs/records.ts';
import { parseArguments } from './json.ts';
import type { ModelSession } from './turn.ts';

export type ToolUse = Extract<ModelPart, { type: 'tool_use' }>;

/** What the model receives for a call. */
export interface CallResult {
  readonly content: string;
  readonly isError: boolean;
}

/** The calls of one round. Plain JSON. */
export interface OpenRound {
  /** From 1. */
  readonly iteration: number;
  readonly content: readonly ModelContent[];
  readonly uses: readonly ToolUse[];
  /** By position; null: the call waits for a decision. */
  readonly results: readonly (CallResult | null)[];
}

const INVALID_JSON: CallResult = { content: 'The arguments were not valid JSON.', isError: true };
const UNDECIDED: CallResult = { content: 'The call was not decided.', isError: true };

/** Whether a call must wait. Arguments that are not JSON go back to the model first. */
export function mustWait(session: ModelSession, { name, arguments: json }: ToolUse): boolean {
  return session.waitsFor(name) !== undefined && parseArguments(json) !== undefined;
}

/** Runs a call that needs no decision. @param place the position of the call in the quest. */
export async function runCall(
  session: ModelSession,
  { name, arguments: json }: ToolUse,
  place: string,
): Promise<CallResult> {
  const input = parseArguments(json);
  return input === undefined ? INVALID_JSON : session.runTool(name, input, place);
}

/** Returns the calls of a round that wait. */
export function getWaitingCalls(
  session: ModelSession,
  { iteration, uses, results }: OpenRound,
): WaitingCall[] {
  return uses.flatMap(({ name, arguments: json }, position) => {
    const waits = results[position] === null ? session.waitsFor(name) : undefined;
    if (waits === undefined) return [];
    // Parsed JSON.
    const input = parseArguments(json) as Json;
    return [{ id: getCallId(iteration, position), tool: waits.tool, kind: waits.kind, input }];
  });
}

/** Runs the decided calls of a round. @param getPlace the position of a call in the quest. */
export async function finishRound(
  session: ModelSession,
  round: OpenRound,
  calls: readonly WaitingCall[],
  getPlace: (position: number) => string,
  emit: (event: LiveEvent) => void,
): Promise<OpenRound> {
  const { iteration, uses } = round;
  const results = await Promise.all(
    uses.map(async (use, position) => {
      const known = round.results[position];
      if (known !== null && known !== undefined) return known;
      const id = getCallId(iteration, position);
      const decision = calls.find((call) => call.id === id)?.decision;
      if (decision === undefined) return UNDECIDED;
      emit({ type: 'approval-decided', id, decision: decision.type });
      const result = await runDecided(session, use, decision, getPlace(position));
      emit({ type: 'tool-result', id, name: use.name, isError: result.isError });
      return result;
    }),
  );
  return { ...round, results };
}

async function runDecided(
  session: ModelSession,
  use: ToolUse,
  decision: CallDecision,
  place: string,
): Promise<CallResult> {
  switch (decision.type) {
    case 'approve':
      return session.runTool(use.name, parseArguments(use.arguments), place, true);
    case 'edit': {
      const { content, isError } = await session.runTool(use.name, decision.input, place, true);
      const note = `The user changed the input of this call to ${JSON.stringify(decision.input)}.`;
      return { content: `${note}\n\n${content}`, isError };
    }
    case 'reject': {
      const { reason = '' } = decision;
      const content = 'The user rejected this call. It did not run.';
      return { content: reason === '' ? content : `${content} Reason: ${reason}`, isError: true };
    }
    case 'answer':
      return { content: decision.output, isError: decision.isError };
  }
}

/** The messages of a round whose calls all have results. */
export function toMessages({ content, uses, results }: OpenRound): readonly ModelMessage[] {
  return [
    { role: 'assistant', content },
    {
      role: 'user',
      content: uses.map(({ id, name }, position) => {
        const { content: text, isError } = results[position] ?? UNDECIDED;
        return { type: 'tool_result', toolUseId: id, toolName: name, content: text, isError };
      }),
    },
  ];
}

function getCallId(iteration: number, position: number): string {
  return `${iteration}.${position}`;
}
