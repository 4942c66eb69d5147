import type { FinishReason, Usage } from '@questline/core/ports';
import type { UpstreamRequest } from './upstream.ts';
import type { VideoScript } from './videos.ts';

/** One step of a stream. Each protocol has its own format for the first six. */
export type ScriptStep =
  | { readonly text: string }
  /** Reasoning. `signature` where the protocol signs it. */
  | { readonly thinking: string; readonly signature?: string }
  /** A hidden thought, where the protocol has one. */
  | { readonly redacted: string }
  /** A tool call, its arguments sent in these pieces. `signature` where the protocol signs calls. */
  | {
      readonly tool: string;
      readonly id: string;
      readonly arguments: readonly string[];
      readonly signature?: string;
    }
  /** An error event of the protocol. `code` is the protocol's error code. */
  | { readonly error: string; readonly code: string }
  /** A raw event: one line of JSON or other data. */
  | { readonly data: string }
  /** Raw bytes. */
  | { readonly raw: string }
  /** Pauses until the promise resolves, or for a number of milliseconds. */
  | { readonly wait: Promise<unknown> | number }
  /** Breaks the connection. */
  | { readonly disconnect: true };

/** The response to one request. */
export interface Script {
  /** A response instead of a stream. An object is sent as JSON. */
  readonly refusal?: {
    readonly status: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body: unknown;
  };
  /** Delays the response headers. */
  readonly wait?: Promise<unknown>;
  readonly steps?: readonly ScriptStep[];
  /** Default `stop`, or `tool_use` when a tool was called. `none`: the stream ends without saying why. */
  readonly finish?: FinishReason | 'none';
  /** Tokens in disjoint classes; sent in the protocol's format. Default: 12 in, 5 out. */
  readonly usage?: Usage;
  /** Milliseconds between the events of steps. Default 0: one write for all that is ready. */
  readonly pace?: number;
  /** Writes each event separately, even without a pace. */
  readonly separate?: boolean;
  /** Splits the bytes at this position into two writes, an event loop turn apart. */
  readonly cutAt?: number;
  /** Sends only this many bytes, then ends the response or breaks the connection. */
  readonly truncate?: { readonly at: number; readonly by: 'end' | 'disconnect' };
  /** Delay before the connection of a partial response breaks. */
  readonly stall?: Promise<unknown>;
  /** The models of `GET /models`. Default: one model `test-model`. */
  readonly models?: readonly Readonly<Record<string, unknown>>[];
  /** The outcome of video jobs. */
  readonly video?: VideoScript;
}

/** The same response for every request, or one per request. */
export type ScriptSource = Script | ((request: UpstreamRequest) => Script);

/** The rendering of a script in a protocol: frames to write, and steps for the server. */
export type Frame = string | { readonly wait: Promise<unknown> | number } | { readonly disconnect: true };

export const defaultUsage: Usage = { input: 12, output: 5 };

/** The finish reason of a script. */
export function getFinish(script: Script): FinishReason | 'none' {
  return script.finish ?? ((script.steps ?? []).some((step) => 'tool' in step) ? 'tool_use' : 'stop');
}

/** The whole stream of a script as bytes, for tests that cut it at every position. */
export function toBytes(frames: readonly Frame[]): Buffer {
  return Buffer.from(frames.filter((frame) => typeof frame === 'string').join(''), 'utf8');
}
