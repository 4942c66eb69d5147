import type { ErrorFormat } from '@questline/core/internal';

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;

/** The id of a request: what the client chose. */
export type RpcId = string | number;

export type JsonObject = Readonly<Record<string, unknown>>;

export interface RpcRequest {
  readonly kind: 'request';
  readonly id: RpcId;
  readonly method: string;
  readonly params: JsonObject;
}

/** A message that needs no answer: a notification, or the response to a request that we never send. */
export interface RpcNotice {
  readonly kind: 'notice';
}

/** A failure of the protocol. Failures of operations are results of tools. */
export class RpcError extends Error {
  readonly code: number;
  /** The HTTP status. */
  readonly status: number;
  readonly data: JsonObject | undefined;
  constructor(code: number, message: string, { status = 200, data }: RpcErrorOptions = {}) {
    super(message);
    this.code = code;
    this.status = status;
    this.data = data;
  }
}

export interface RpcErrorOptions {
  readonly status?: number;
  readonly data?: JsonObject;
}

/** @throws RpcError for a value that is no message. */
export function readMessage(body: JsonObject): RpcRequest | RpcNotice {
  const { jsonrpc, id, method, params = {} } = body;
  if (jsonrpc !== '2.0') throw invalid('jsonrpc: expected "2.0"');
  if (method === undefined && ('result' in body || 'error' in body)) return { kind: 'notice' };
  if (typeof method !== 'string') throw invalid('method: expected text');
  if (!isObject(params)) throw invalid('params: expected an object');
  if (id === undefined) return { kind: 'notice' };
  if (typeof id !== 'string' && !Number.isSafeInteger(id))
    throw invalid('id: expected text or a whole number');
  return { kind: 'request', id: id as RpcId, method, params };
}

function invalid(message: string): RpcError {
  return new RpcError(INVALID_REQUEST, message, { status: 400 });
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @throws RpcError for a cursor: the list has one page. */
export function checkOnePage({ cursor }: JsonObject): void {
  if (cursor !== undefined) throw new RpcError(INVALID_PARAMS, 'cursor: there is one page');
}

/** @param id null where the request has none that can be read. */
export function toErrorMessage(id: RpcId | null, { code, message, data }: RpcError): JsonObject {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } };
}

/** Refusals before the message is read: the credential, the limits, and a body that is no JSON object. */
export const rpcErrors: ErrorFormat = (error, requestId) => {
  const { status, message, code: errorCode } = error;
  const code = status >= 500 ? INTERNAL_ERROR : status === 400 ? PARSE_ERROR : INVALID_REQUEST;
  const data = { status, request_id: requestId, ...(errorCode !== undefined && { errorCode }) };
  return {
    status: status === 422 ? 400 : status,
    body: { ...toErrorMessage(null, new RpcError(code, message, { data })) },
  };
};
