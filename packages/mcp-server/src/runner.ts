import type { ApiRequest, ApiResponse, Route } from '@questline/core';
import { type ApiHeaders, type Call, storageAway } from '@questline/core/internal';
import { isStorageUnavailable } from '@questline/core/ports';
import type { JsonObject } from './json-rpc.ts';

/** An operation refused a call, or failed. */
export class OperationRefused extends Error {
  readonly status: number;
  /** Seconds until a retry makes sense. */
  readonly retryAfter: string | undefined;
  constructor(status: number, message: string, retryAfter: string | undefined) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** The refusal for unavailable storage, of work outside of operations. @returns undefined for any other error. */
export function toUnavailable(error: unknown): OperationRefused | undefined {
  if (!isStorageUnavailable(error)) return undefined;
  const { status, message, headers } = storageAway(error);
  return new OperationRefused(status, message, headers?.['Retry-After']);
}

export interface OperationInput {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
  /** Whether the `Idempotency-Key` of the message is meant for this operation. */
  readonly isRepeatable?: boolean;
}

/** Runs operations of the API for one message, with the credential of its sender. */
export interface Runner {
  /** @returns the body of the answer. @throws OperationRefused */
  run(id: string, input?: OperationInput): Promise<JsonObject>;
  /** Whether the message has an `Idempotency-Key`. */
  readonly isRepeatable: boolean;
  /** Whether an operation was called: it has counted the message. */
  hasRun(): boolean;
  /** The rate limits after the last operation. */
  headers(): Readonly<Record<string, string>>;
}

/** Describe the body and the answer of the message, not those of the operation. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'idempotency-key',
  'range',
  'transfer-encoding',
]);
const PASSED_ON = /^x-ratelimit-/i;

/**
 * Every operation runs through its whole pipeline: credential, scopes, limits, validation, observers.
 * @param mountPath where the host mounts the API: the prefix of links in answers.
 */
export function createRunner(routes: ReadonlyMap<string, Route>, call: Call, mountPath: string): Runner {
  const key = call.request.headers['idempotency-key'];
  let headers: Readonly<Record<string, string>> = {};
  let hasRun = false;
  return {
    isRepeatable: key !== undefined,
    hasRun: () => hasRun,
    headers: () => headers,
    async run(id, input = {}) {
      const route = routes.get(id);
      if (route === undefined) throw new OperationRefused(404, 'This server does not offer it', undefined);
      const request = toRequest(route, call, mountPath, input, input.isRepeatable === true ? key : undefined);
      hasRun = true;
      const response = await route.run(request, input.params ?? {});
      headers = Object.fromEntries(Object.entries(response.headers).filter(([name]) => PASSED_ON.test(name)));
      return readAnswer(response);
    },
  };
}

function toRequest(
  { operation }: Route,
  call: Call,
  mountPath: string,
  { params = {}, query = {}, body }: OperationInput,
  key: ApiHeaders[string],
): ApiRequest {
  const { request } = call;
  const { remoteAddress, protocol, signal } = request;
  const passed = Object.entries(request.headers).filter(([name]) => !OWN_HEADERS.has(name));
  return {
    method: operation.method,
    path: operation.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? '')),
    mountPath,
    query: new URLSearchParams(query).toString(),
    headers: {
      ...Object.fromEntries(passed),
      'x-request-id': call.requestId,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    body: { parsed: body, bytes: async () => new Uint8Array(), stream: noBytes },
    signal,
    remoteAddress,
    protocol,
  };
}

async function* noBytes(): AsyncGenerator<Uint8Array> {}

function readAnswer({ status, headers, body }: ApiResponse): JsonObject {
  const answer = typeof body === 'string' && body !== '' ? (JSON.parse(body) as JsonObject) : {};
  if (status < 400) return answer;
  const { error } = answer;
  throw new OperationRefused(
    status,
    typeof error === 'string' ? error : 'The operation failed',
    headers['Retry-After'],
  );
}
