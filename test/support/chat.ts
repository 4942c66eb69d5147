import type { ModelPart } from '@questline/core';
import { createScriptedProvider, type ModelCall, type ScriptedProvider } from './model.ts';
import { createWorld, type World, type WorldOptions } from './world.ts';

/** A world whose engine runs, with a model to chat with. */
export interface ChatWorld extends World {
  readonly model: ScriptedProvider;
  readonly calls: readonly ModelCall[];
  /** Posts to the chat, and answers status and body. */
  chat(body: unknown, options?: Parameters<World['ask']>[2]): Promise<JsonAnswer>;
  json(method: string, path: string, options?: Parameters<World['ask']>[2]): Promise<JsonAnswer>;
  /** The quest as it is now. */
  poll(id: string): Promise<Record<string, unknown>>;
}

export interface JsonAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: what came over the wire is looked at, not trusted.
  readonly body: any;
  readonly headers: Headers;
}

export interface ChatWorldOptions extends Omit<WorldOptions, 'models'> {
  /** Default: says "Hello." at once. */
  readonly onCall?: (call: ModelCall) => void | Promise<void>;
  readonly model?: ScriptedProvider;
  readonly models?: WorldOptions['models'];
  /** Default true. */
  readonly started?: boolean;
}

const SCOPES = ['ai:chat', 'ai:generate', 'me:read', 'notebooks:read', 'notebooks:write'] as const;

export async function createChatWorld(options: ChatWorldOptions = {}): Promise<ChatWorld> {
  const { onCall = sayAtOnce('Hello.'), started = true, ...rest } = options;
  const model = options.model ?? createScriptedProvider(onCall);
  const world = await createWorld({
    ...rest,
    models: options.models ?? [model],
    key: { scopes: SCOPES, requestsPerMinute: 10_000, requestsPerDay: 1_000_000, ...options.key },
    settings: { admin: { DefaultAPIModel: 'scripted' }, ...options.settings },
  });
  if (started) await world.api.start();
  const json: ChatWorld['json'] = async (method, path, more) => {
    const response = await world.ask(method, path, more);
    const text = await response.text();
    return {
      status: response.status,
      body: text === '' ? undefined : JSON.parse(text),
      headers: response.headers,
    };
  };
  return {
    ...world,
    model,
    calls: model.calls,
    json,
    chat: (body, more) => json('POST', '/api/chat', { body, ...more }),
    async poll(id) {
      return (await json('GET', `/api/v1/quests/${id}`)).body;
    },
  };
}

/** Says nothing by itself: the test does. */
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
