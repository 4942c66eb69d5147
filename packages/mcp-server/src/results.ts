import type { JsonObject } from './json-rpc.ts';
import { OperationRefused, toUnavailable } from './runner.ts';

export type Content =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly data: string; readonly mimeType: string }
  | { readonly type: 'resource_link'; readonly uri: string; readonly name: string };

/** The result of `tools/call`. */
export interface ToolResult {
  readonly content: readonly Content[];
  readonly structuredContent?: JsonObject;
  readonly isError?: true;
}

/** The text is for clients that show no structured content. */
export function structured(value: JsonObject, more: readonly Content[] = []): ToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(value) }, ...more], structuredContent: value };
}

export function failed(message: string): ToolResult {
  return { content: [{ type: 'text', text: message }], isError: true };
}

/** A wrong argument. */
export class WrongArgument extends Error {}

/** Refusals of operations, wrong arguments and unavailable storage are results, which the model of the client reads. Others are rethrown. */
export function toFailure(error: unknown): ToolResult {
  if (error instanceof WrongArgument) return failed(error.message);
  const refusal = toUnavailable(error) ?? error;
  if (!(refusal instanceof OperationRefused)) throw error;
  const { message, retryAfter } = refusal;
  return failed(retryAfter === undefined ? message : `${message} (try again in ${retryAfter} seconds)`);
}
