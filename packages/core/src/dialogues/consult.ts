import { runTurn } from '../chat/turn.ts';
import type { Desk } from '../quests/desk.ts';
import type { PaidCall } from '../quests/model-call.ts';
import type { Consultation, ToolOffer, ToolResult } from '../tools/registry.ts';
import type { Talk } from './talk.ts';

/** Calls of tools in one consultation. */
const MOST_TOOL_CALLS = 5;

/**
 * A small turn within a turn: somebody else's manner, some of the tools, the quest's model and money. What is said is not
 * the quest's answer.
 */
export async function consultWithin(
  { signal, stepEnded }: Pick<Desk, 'signal' | 'stepEnded'>,
  talk: Pick<Talk, 'ask' | 'roundEnded'>,
  { system, task }: Pick<Consultation, 'system' | 'task'>,
  /** As of now; more may have been unlocked. */
  offers: () => readonly ToolOffer[],
  runTool: (name: string, input: unknown, place: number) => Promise<ToolResult>,
): Promise<string> {
  let text = '';
  let call: PaidCall | undefined;
  try {
    await runTurn({
      messages: [
        { role: 'system', content: [{ type: 'text', text: system }] },
        { role: 'user', content: [{ type: 'text', text: task }] },
      ],
      tools: () => offers().map(({ schema }) => schema),
      maxToolCalls: MOST_TOOL_CALLS,
      signal,
      said(more) {
        text += more;
      },
      async ask(messages, tools) {
        const answering = await talk.ask(messages, tools);
        call = answering.money;
        return answering;
      },
      roundEnded: talk.roundEnded,
      runTool,
    });
  } catch (error) {
    signal.throwIfAborted();
    if (call !== undefined) await stepEnded(call, false);
    throw error;
  }
  if (call !== undefined) await stepEnded(call, true);
  return text;
}
