import type { ModelPart } from '@questline/core/ports';
import type { AnswerBody } from './answers.ts';
import { createScriptedProvider, type ModelCall, type ScriptedProvider } from './model.ts';
import { type AskOptions, createTestApp, type TestApp, type TestAppOptions } from './test-app.ts';

/** An app with a running worker and a chat model. */
export interface ChatApp extends TestApp {
  readonly model: ScriptedProvider;
  readonly calls: readonly ModelCall[];
  /** Posts to the chat, and returns status and body. */
  chat(body: unknown, options?: AskOptions): Promise<JsonAnswer<AnswerBody<'POST', '/api/chat'>>>;
  json<const Method extends string, const Path extends string>(
    method: Method,
    path: Path,
    options?: AskOptions,
  ): Promise<JsonAnswer<AnswerBody<Method, Path>>>;
  /** The current state of the quest. */
  poll(id: string): Promise<Quest>;
}

export type Quest = AnswerBody<'GET', `/api/v1/quests/${string}`>;

export interface JsonAnswer<Body = unknown> {
  readonly status: number;
  readonly body: Body;
  readonly headers: Headers;
}

export interface ChatAppOptions extends Omit<TestAppOptions, 'models'> {
  /** Default: answers "Hello." at once. */
  readonly onCall?: (call: ModelCall) => void | Promise<void>;
  readonly model?: ScriptedProvider;
  readonly models?: TestAppOptions['models'];
  /** Default true. */
  readonly started?: boolean;
}

const SCOPES = ['ai:chat', 'ai:generate', 'me:read', 'notebooks:read', 'notebooks:write'] as const;

export async function createChatApp(options: ChatAppOptions = {}): Promise<ChatApp> {
  const { onCall = sayAtOnce('Hello.'), started = true, ...rest } = options;
  const model = options.model ?? createScriptedProvider(onCall);
  const app = await createTestApp({
    ...rest,
    models: options.models ?? [model],
    key: { scopes: SCOPES, requestsPerMinute: 10_000, requestsPerDay: 1_000_000, ...options.key },
    settings: { admin: { DefaultAPIModel: 'scripted' }, ...options.settings },
  });
  if (started) await app.api.start();
  const json: ChatApp['json'] = async (method, path, more) => {
    const response = await app.ask(method, path, more);
    const text = await response.text();
    return {
      status: response.status,
      body: text === '' ? undefined : JSON.parse(text),
      headers: response.headers,
    };
  };
  return {
    ...app,
    model,
    calls: model.calls,
    json,
    chat: (body, more) => json('POST', '/api/chat', { body, ...more }),
    async poll(id) {
      return (await json('GET', `/api/v1/quests/${id}`)).body;
    },
  };
}

/** Sends no output: the test does. */
export const silent = (): void => undefined;

/** Answers at once, using 10 input tokens and one output token per word. */
export function sayAtOnce(text: string): (call: ModelCall) => void {
  return (call) => {
    call.say(...answerParts(text));
    call.end();
  };
}

export function answerParts(text: string): ModelPart[] {
  return [
    { type: 'text', text },
    { type: 'usage', usage: { input: 10, output: text.split(' ').length } },
    { type: 'finish', reason: 'stop' },
  ];
}
