import { createOpenAIApi } from '@questline/openai';
import OpenAI, { type ClientOptions } from 'openai';
import { type ChatApp, type ChatAppOptions, createChatApp } from '../support/chat.ts';
import { withVendorTypes } from '../support/vendor-types/check-wire.ts';
import { serveWire } from '../support/vendor-wire.ts';

export interface OpenAIApp extends ChatApp {
  /** The base URL for clients. */
  readonly baseURL: string;
  /** The official client, without retries. */
  readonly client: OpenAI;
  connect(options?: ClientOptions): OpenAI;
  /** A plain request. `path` is below the base URL. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
}

/** An app on a local port, with the OpenAI API at `/openai`. */
export async function createOpenAIApp(options: ChatAppOptions = {}): Promise<OpenAIApp> {
  const app = await createChatApp(options);
  const baseURL = `${await serveWire(withVendorTypes('openai', createOpenAIApi(app.services)), '/openai')}/v1`;
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

/** The `error` object of a response. */
export async function readError(response: Response): Promise<Readonly<Record<string, unknown>>> {
  const body = (await response.json()) as { error: Readonly<Record<string, unknown>> };
  return body.error;
}

/** Runs the worker until the model was called so many times. */
export async function untilCalled(app: OpenAIApp, calls = 1): Promise<void> {
  for (let count = 0; count < 50 && app.calls.length < calls; count += 1) await app.settle();
}
