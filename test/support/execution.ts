import { type ChatWorld, type ChatWorldOptions, createChatWorld, type JsonAnswer } from './chat.ts';
import type { ModelCall } from './model.ts';

/** A world whose engine runs, with a session for agents to work in. */
export interface ExecutionWorld extends ChatWorld {
  readonly sessionId: string;
  /** Asks for a run in that session, and answers status and body. */
  run(body?: object, options?: Parameters<ChatWorld['ask']>[2]): Promise<JsonAnswer>;
  /** The run as it is now. */
  // biome-ignore lint/suspicious/noExplicitAny: what came over the wire is looked at, not trusted.
  look(id: string): Promise<any>;
}

export async function createExecutionWorld(options: ChatWorldOptions = {}): Promise<ExecutionWorld> {
  const world = await createChatWorld(options);
  const { body } = await world.json('POST', '/api/v1/sessions', { body: { name: 'Work' } });
  const path = '/api/v1/agent-executions';
  return {
    ...world,
    sessionId: body.id,
    run: (more = {}, asked = {}) =>
      world.json('POST', path, { body: { session_id: body.id, message: 'Do it', ...more }, ...asked }),
    look: async (id) => (await world.json('GET', `${path}/${id}`)).body,
  };
}

/** Says something and uses a tool. 10 input tokens, 5 output tokens. */
export function useTool(call: ModelCall, name: string, input: unknown, thought = ''): void {
  if (thought !== '') call.say({ type: 'text', text: thought });
  call.say({
    type: 'tool_use',
    id: `use-${call.request.messages.length}`,
    name,
    arguments: JSON.stringify(input),
  });
  call.say({ type: 'usage', usage: { input: 10, output: 5 } }, { type: 'finish', reason: 'tool_use' });
  call.end();
}
