import type { Mountable } from '@questline/core';
import type { ChatApp } from '../support/chat.ts';
import type { AskedModel } from './provider.ts';

export interface GuardedApp extends ChatApp {
  /** The calls that reached the provider. */
  readonly asked: readonly AskedModel[];
}

/** What came back, in the words of the wire. Work that runs later has ended. */
export interface Outcome {
  readonly status: number;
  /** The name of the error on the wire; null without one, or without an error. */
  readonly name: unknown;
  readonly text: string;
  readonly headers: Headers;
}

/** The parts of an outcome by which a refusal is known. */
export interface Refusal {
  /** Default: any of 400 and above. */
  readonly status?: number;
  readonly name?: string | null;
  readonly text?: RegExp;
}

/** How a wire refuses, by guard. */
export type Refusals = Readonly<
  Record<
    | 'credential'
    | 'twoKeys'
    | 'scope'
    | 'window'
    | 'credit'
    | 'cap'
    | 'budget'
    | 'daily'
    | 'hiddenModel'
    | 'listedModel'
    | 'file'
    | 'switchedOff'
    | 'reusedKey'
    | 'shutdown',
    Refusal
  >
>;

/** A wire of an app, and one request over it. */
export interface WireRequest {
  readonly app: GuardedApp;
  readonly handle: (request: Request) => Promise<Response>;
  readonly credential: string | null;
  readonly headers: Readonly<Record<string, string>>;
  /** Of `prepare`. */
  readonly subject: string;
  /** A stored file of the request. Undefined: none. */
  readonly fileId: string | undefined;
  /** Part of the request; another value is another body. */
  readonly text: string;
}

/** One operation of a wire, or one tool. */
export interface WireOperation {
  /** Its id on the wire. Two rows may have one id, for example plain and streamed. */
  readonly id: string;
  readonly title: string;
  /** A repeated `Idempotency-Key` gets the first answer, or the reason why it has no effect. */
  readonly repeat: 'replayed' | { readonly none: string };
  /** What a stored file is for it: part of its input, its subject, or its product. Default: it has no stored files. */
  readonly file?: 'input' | 'subject' | 'product';
  /** Its model is that of the server, whatever keys and models the caller has. */
  readonly usesServerModel?: boolean;
  /** Why it is free although its counterpart is paid. */
  readonly unpaid?: string;
  /** Lists models. */
  readonly listsModels?: boolean;
  /** Makes what the operation needs, once per app. */
  prepare?(app: GuardedApp): Promise<string>;
  send(request: WireRequest): Promise<Outcome>;
}

/** An operation or a tool as the wire declares it. */
export interface ServedOperation {
  readonly id: string;
  /** The operation of the API that it is another form of. */
  readonly counterpart: string;
  readonly isPaid: boolean;
  readonly isIdempotent: boolean;
  readonly needsScope: boolean;
}

/** A row of the table. */
export interface GuardedWire {
  readonly name: string;
  readonly mountPath: string;
  /** The package that serves it. */
  readonly package: string;
  createApi(app: GuardedApp): Mountable;
  /** Everything that the wire serves. */
  list(app: GuardedApp): Promise<readonly ServedOperation[]>;
  readonly operations: readonly WireOperation[];
  readonly refusals: Refusals;
  /** A header with the requests that are left. Absent: not on every answer. */
  readonly remainingHeader?: string;
  /** Whether a refusal that no retry can change carries `x-should-retry: false`. */
  readonly forbidsRetries: boolean;
}
