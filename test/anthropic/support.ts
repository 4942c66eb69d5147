import Anthropic, { type ClientOptions } from '@anthropic-ai/sdk';
import { createAnthropicApi } from '@questline/anthropic';
import { type ChatApp, type ChatAppOptions, createChatApp } from '../support/chat.ts';
import { createScriptedProvider, type ModelCall, SCRIPTED_MODEL } from '../support/model.ts';
import { withVendorTypes } from '../support/vendor-types/check-wire.ts';
import { serveWire } from '../support/vendor-wire.ts';

export interface AnthropicApp extends ChatApp {
  /** The base URL of the vendor's SDKs, without `/v1`. */
  readonly baseURL: string;
  /** The official client, without retries. */
  readonly client: Anthropic;
  connect(options?: ClientOptions): Anthropic;
  /** A plain request. `path` is below `/v1`. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
}

/** An app on a local port, with the Anthropic API at `/anthropic`. */
export async function createAnthropicApp(options: ChatAppOptions = {}): Promise<AnthropicApp> {
  const app = await createChatApp({ started: false, ...options });
  const baseURL = await serveWire(
    withVendorTypes('anthropic', createAnthropicApi(app.services)),
    '/anthropic',
  );
  const connect = (more: ClientOptions = {}): Anthropic =>
    new Anthropic({ apiKey: app.key, baseURL, maxRetries: 0, ...more });
  return {
    ...app,
    baseURL,
    connect,
    client: connect(),
    send: (method, path, body, headers = {}) =>
      fetch(`${baseURL}/v1${path}`, {
        method,
        headers: {
          'x-api-key': app.key,
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
  };
}

/** A scripted model that reasons. */
export function createThinker(onCall: (call: ModelCall) => void) {
  return createScriptedProvider(onCall, [{ ...SCRIPTED_MODEL, supportsThinking: true }]);
}

export const TOOLS = [
  {
    name: 'weather',
    description: 'The weather of a city',
    input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } },
  },
  { name: 'time', input_schema: { type: 'object' as const } },
];

export const ASK = {
  model: 'scripted',
  max_tokens: 100,
  messages: [{ role: 'user' as const, content: 'Weather in Oslo?' }],
};

export interface WireEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** The events of a stream. Throws when the name of an event is not its type. */
export function readEvents(text: string): WireEvent[] {
  const frames = text.split('\n\n').filter((frame) => frame.startsWith('event: '));
  return frames.map((frame) => {
    const [, name, data = ''] = /^event: (\S+)\ndata: (.*)$/.exec(frame) ?? [];
    const event = JSON.parse(data) as WireEvent;
    if (event.type !== name) throw new Error(`${name} has the type ${event.type}`);
    return event;
  });
}
