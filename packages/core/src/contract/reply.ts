import type * as z from 'zod';
import type { OperationCall } from './call.ts';
import type { ApiResponseBody } from './message.ts';
import type { Operation, ValidatedInput } from './operation.ts';

/** A response other than a JSON value with the default status: a custom status, headers, bytes or a stream. */
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

/** Creates a JSON response with a custom status. @param headers in addition to `Content-Type`. */
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

/**
 * The result type of a handler: the JSON value of a declared response, a `Reply`, or undefined for an empty response.
 */
export type OperationOutput<Op extends Operation> = JsonOutput<Op['output']> | Reply | undefined;

/**
 * Implements an operation. Receives the validated input and the call; returns the value of a declared response, a `Reply`, or
 * undefined for an empty response. Rejects with an `ApiError` for an expected failure; any other error is a 500 and an
 * `Incident`.
 */
export type Handler<Op extends Operation> = (
  input: ValidatedInput<Op>,
  call: OperationCall<Op>,
) => Promise<OperationOutput<Op>>;
