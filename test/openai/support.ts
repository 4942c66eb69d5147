import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeListener } from '@questline/core';
import { createOpenAIApi } from '@questline/openai';
import OpenAI, { type ClientOptions } from 'openai';
import { afterEach } from 'vitest';
import { type ChatApp, type ChatAppOptions, createChatApp } from '../support/chat.ts';
import type { ModelCall } from '../support/model.ts';

export interface OpenAIApp extends ChatApp {
  /** The base URL for clients. */
  readonly baseURL: string;
  /** The official client, without retries. */
  readonly client: OpenAI;
  connect(options?: ClientOptions): OpenAI;
  /** A plain request. `path` is below the base URL. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
}

const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** An app on a local port, with the OpenAI API at `/openai`. */
export async function createOpenAIApp(options: ChatAppOptions = {}): Promise<OpenAIApp> {
  const app = await createChatApp({ started: false, ...options });
  const api = createOpenAIApi(app.services);
  const server = createServer(toNodeListener(api, undefined, { mountPath: '/openai' }));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/openai/v1`;
  const connect = (more: ClientOptions = {}): OpenAI =>
    new OpenAI({ apiKey: app.key, baseURL, maxRetries: 0, ...more });
  return {
    ...app,
    baseURL,
    connect,
    client: connect(),
    send: (method, path, body, headers = {}) =>
      fetch(`${baseURL}${path}`, {
        method,
        headers: {
          Authorization: `Bearer ${app.key}`,
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
  };
}

/** Calls two tools in the first round, and answers when their results have arrived. */
export function useTools(call: ModelCall): void {
  const hasResult = call.request.messages.some(({ content }) =>
    content.some(({ type }) => type === 'tool_result'),
  );
  if (hasResult) {
    call.say({ type: 'text', text: 'Rain, at noon.' }, { type: 'usage', usage: { input: 30, output: 4 } });
    call.say({ type: 'finish', reason: 'stop' });
  } else {
    call.say({ type: 'tool_use_delta', index: 0, id: 't1', name: 'weather', arguments: '{"city":' });
    call.say({ type: 'tool_use_delta', index: 0, arguments: '"Oslo"}' });
    call.say({ type: 'tool_use', id: 't1', name: 'weather', arguments: '{"city":"Oslo"}' });
    call.say({ type: 'tool_use', id: 't2', name: 'time', arguments: '{}' });
    call.say({ type: 'usage', usage: { input: 20, output: 9 } }, { type: 'finish', reason: 'tool_use' });
  }
  call.end();
}

export const TOOLS = [
  {
    type: 'function' as const,
    function: {
      name: 'weather',
      description: 'The weather of a city',
      parameters: { type: 'object', properties: { city: { type: 'string' } } },
    },
  },
  { type: 'function' as const, function: { name: 'time' } },
];

export const ASK = { model: 'scripted', messages: [{ role: 'user' as const, content: 'Weather in Oslo?' }] };

export async function collect<T>(source: AsyncIterable<T> | ReadableStream<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
}

/** The `error` object of a response. */
export async function readError(response: Response): Promise<Readonly<Record<string, unknown>>> {
  const body = (await response.json()) as { error: Readonly<Record<string, unknown>> };
  return body.error;
}
