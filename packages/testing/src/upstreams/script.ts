import type { FinishReason, Usage } from '@questline/core';
import type { FilmScript } from './films.ts';
import type { UpstreamRequest } from './server.ts';

/** One thing an upstream does while it streams. Each protocol writes the first six in its own words. */
export type ScriptStep =
  | { readonly text: string }
  /** Reasoning. `signature` where the protocol signs it. */
  | { readonly thinking: string; readonly signature?: string }
  /** A thought the provider shows to nobody, where the protocol has such. */
  | { readonly redacted: string }
  /** A tool call, its arguments sent in these pieces. `signature` where the protocol signs calls. */
  | {
      readonly tool: string;
      readonly id: string;
      readonly arguments: readonly string[];
      readonly signature?: string;
    }
  /** An error in the stream, as this protocol reports one. `code` is the protocol's own word. */
  | { readonly error: string; readonly code: string }
  /** An event as is: one line of JSON or other data. */
  | { readonly data: string }
  /** Bytes as they are. */
  | { readonly raw: string }
  /** Sends nothing more until the promise resolves, or for so many milliseconds. */
  | { readonly wait: Promise<unknown> | number }
  /** Breaks the connection. */
  | { readonly disconnect: true };

/** How one request is answered. */
export interface Script {
  /** Answers this instead of a stream. An object is sent as JSON. */
  readonly refusal?: {
    readonly status: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body: unknown;
  };
  /** Holds the head of the answer back. */
  readonly wait?: Promise<unknown>;
  readonly steps?: readonly ScriptStep[];
  /** Default `stop`, or `tool_use` when a tool was called. `none`: the stream ends without saying why. */
  readonly finish?: FinishReason | 'none';
  /** Tokens in classes that don't overlap; sent the way this protocol counts. Default: 12 in, 5 out. */
  readonly usage?: Usage;
  /** Milliseconds between the events of steps. Default 0: everything that is ready goes out in one write. */
  readonly pace?: number;
  /** Writes every event by itself, even without a pace. */
  readonly separate?: boolean;
  /** Sends the bytes before this place and those after it in two writes, an event loop turn apart. */
  readonly cutAt?: number;
  /** Sends only so many bytes, then ends the answer cleanly or breaks the connection. */
  readonly truncate?: { readonly at: number; readonly by: 'end' | 'disconnect' };
  /** What is delivered in part stays so until then, before its connection breaks. */
  readonly stall?: Promise<unknown>;
  /** What becomes of films that are ordered. */
  readonly film?: FilmScript;
}

/** The same answer for every request, or one chosen by the request. */
export type ScriptSource = Script | ((request: UpstreamRequest) => Script);

/** A protocol's way to say a script: frames to write, and steps the server carries out itself. */
export type Frame = string | { readonly wait: Promise<unknown> | number } | { readonly disconnect: true };

export const defaultUsage: Usage = { input: 12, output: 5 };

/** The reason a script ends with. */
export function finishOf(script: Script): FinishReason | 'none' {
  return script.finish ?? ((script.steps ?? []).some((step) => 'tool' in step) ? 'tool_use' : 'stop');
}

/** The whole stream of a script as bytes, for tests that walk over its positions. */
export function bytesOf(frames: readonly Frame[]): Buffer {
  return Buffer.from(frames.filter((frame) => typeof frame === 'string').join(''), 'utf8');
}
