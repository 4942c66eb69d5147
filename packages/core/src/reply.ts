import type * as z from 'zod';
import type { CallOf } from './call.ts';
import type { ApiResponseBody } from './http/message.ts';
import type { InputOf, Operation } from './operation.ts';

/** An answer that is more than a JSON value with the usual status: another status, headers, bytes, a stream. */
export class Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ApiResponseBody;
  constructor(status: number, headers: Readonly<Record<string, string>>, body: ApiResponseBody) {
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}

/** A JSON answer with a status of its own. */
export function jsonReply(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return new Reply(
    status,
    { 'Content-Type': 'application/json; charset=utf-8', ...headers },
    JSON.stringify(value),
  );
}

type JsonOutput<Output> = {
  [Status in keyof Output]: Output[Status] extends { readonly schema: infer S extends z.ZodType }
    ? z.input<S>
    : never;
}[keyof Output];

/** What a handler may return: the JSON value of a described answer, a `Reply`, or nothing for an empty answer. */
export type OutputOf<Op extends Operation> = JsonOutput<Op['output']> | Reply | undefined;

export type Handler<Op extends Operation> = (input: InputOf<Op>, call: CallOf<Op>) => Promise<OutputOf<Op>>;
