import type { AnswerBody } from './answers.ts';
import { type ChatApp, type ChatAppOptions, createChatApp, type JsonAnswer } from './chat.ts';
import type { ModelCall } from './model.ts';
import type { AskOptions } from './test-app.ts';

const PATH = '/api/v1/agent-executions';

export type Execution = AnswerBody<'GET', `${typeof PATH}/${string}`>;

/** An app with a running worker and a session for agent runs. */
export interface ExecutionApp extends ChatApp {
  readonly sessionId: string;
  /** Starts a run in that session, and returns status and body. */
  run(body?: object, options?: AskOptions): Promise<JsonAnswer<AnswerBody<'POST', typeof PATH>>>;
  /** The current state of the run. */
  look(id: string): Promise<Execution>;
}

export async function createExecutionApp(options: ChatAppOptions = {}): Promise<ExecutionApp> {
  const app = await createChatApp(options);
  const { body } = await app.json('POST', '/api/v1/sessions', { body: { name: 'Work' } });
  return {
    ...app,
    sessionId: body.id,
    run: (more = {}, asked = {}) =>
      app.json('POST', PATH, { body: { session_id: body.id, message: 'Do it', ...more }, ...asked }),
    look: async (id) => (await app.json('GET', `${PATH}/${id}`)).body,
  };
}

/** Emits text and a tool call. 10 input tokens, 5 output tokens. */
export function callTool(call: ModelCall, name: string, input: unknown, thought = ''): void {
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
