import type { PaidCall } from '../../runs/model-call.ts';
import type { RunContext } from '../../runs/run-context.ts';
import type { Consultation } from '../../tools/registry.ts';
import { type ModelSession, runTurn, withoutWaiting } from './turn.ts';

/** Maximum tool calls in one consultation. */
const MAX_TOOL_CALLS = 5;

/**
 * Runs a small turn within a turn: another agent's persona, some of the tools, the quest's model and credits. Its answer is
 * not the quest's answer.
 * @param session the model, and the tools that the agent may use.
 * @param place the position of the consultation in the quest.
 */
export async function runConsultation(
  { endStep }: Pick<RunContext, 'endStep'>,
  session: ModelSession,
  { system, task }: Pick<Consultation, 'system' | 'task'>,
  place: string,
): Promise<string> {
  const small = withoutWaiting(session);
  let text = '';
  let call: PaidCall | undefined;
  try {
    await runTurn(
      {
        ...small,
        async ask(messages, tools, options) {
          const answering = await small.ask(messages, tools, options);
          call = answering.money;
          return answering;
        },
      },
      {
        messages: [
          { role: 'system', content: [{ type: 'text', text: system }] },
          { role: 'user', content: [{ type: 'text', text: task }] },
        ],
        maxToolCalls: MAX_TOOL_CALLS,
        place,
        onText(more) {
          text += more;
        },
      },
    );
  } catch (error) {
    session.signal.throwIfAborted();
    if (call !== undefined) await endStep(call, 'broken');
    throw error;
  }
  if (call !== undefined) await endStep(call, 'finished');
  return text;
}
