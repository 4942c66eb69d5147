import type { ChatApp } from '../../support/chat.ts';

/** What a client needs to know of a server. */
export interface Server extends Pick<ChatApp, 'key' | 'calls' | 'ledger' | 'account' | 'clock' | 'settle'> {
  /** The base URL of the wire, as its clients want it. */
  readonly baseURL: string;
}

export type Wire = 'openai' | 'anthropic';

/** One turn of a conversation. */
export type Turn =
  | {
      readonly role: 'user';
      readonly text: string;
      /** Base64 of a PNG. */
      readonly image?: string;
      /** Base64 of a PDF. */
      readonly document?: string;
    }
  /** An answer, as the client returned it. */
  | { readonly role: 'assistant'; readonly answer: Answer }
  | { readonly role: 'tool'; readonly results: readonly ToolResult[] };

export interface ToolResult {
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

export interface Asked {
  readonly turns: readonly Turn[];
  /** The names of the tools on offer. Default: none. */
  readonly tools?: readonly string[];
  /** Asks for `{ city: string }`. */
  readonly isStructured?: boolean;
  readonly reasons?: boolean;
  readonly isStreamed?: boolean;
  /** Default: `scripted`. */
  readonly model?: string;
  /** Default: that of the server. */
  readonly key?: string;
  /** Default 0. */
  readonly maxRetries?: number;
  readonly signal?: AbortSignal;
}

export interface Answer {
  readonly text: string;
  /** How many pieces of text arrived. One without a stream. */
  readonly pieces: number;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: unknown }[];
  /** The answer to the request for `{ city: string }`. */
  readonly value?: unknown;
  readonly usage: ClientUsage;
  /** What the client wants back as the turn of the assistant. */
  readonly turn: unknown;
}

/** Tokens as the client reports them. Classes that it does not know are absent. */
export interface ClientUsage {
  /** All of the input, with cached tokens. */
  readonly input: number;
  /** All of the output, with reasoning. */
  readonly output: number;
  readonly cachedInput?: number | undefined;
  readonly cacheWrite?: number | undefined;
  readonly reasoning?: number | undefined;
}

export const SCENARIOS = [
  'plain',
  'stream',
  'tools in several rounds',
  'parallel tools',
  'structured output',
  'images',
  'documents',
  'reasoning kept over rounds',
  'cancel',
  'retries',
  'errors by class',
  'usage by class',
] as const;

export type Scenario = (typeof SCENARIOS)[number];

/** A client that is pointed at a wire, unchanged but for the address. */
export interface MatrixClient {
  readonly name: string;
  readonly wire: Wire;
  /** Its answers are stored, so a worker repeats a failed call of the model, and the client sees no failure. */
  readonly isStored?: boolean;
  /** What it cannot do, with the reason. */
  readonly cannot?: Partial<Readonly<Record<Scenario, string>>>;
  ask(server: Server, asked: Asked): Promise<Answer>;
}

export const SCHEMA = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const } },
  required: ['city'],
  additionalProperties: false,
};

export function toDataUrl(type: string, base64: string): string {
  return `data:${type};base64,${base64}`;
}
