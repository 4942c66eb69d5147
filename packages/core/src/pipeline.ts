import * as z from 'zod';
import type { Call, Caller } from './call.ts';
import { ApiError, isApiError, notFound } from './errors.ts';
import { DEFAULT_BODY_LIMIT, hasBody, readJson } from './http/body.ts';
import { errorBody } from './http/families.ts';
import type { ApiRequest, ApiResponse } from './http/message.ts';
import { requestIdOf } from './http/request-id.ts';
import { parseQuery, validate } from './http/validation.ts';
import type { Authenticator } from './identity/credentials.ts';
import { checkScopes } from './identity/gate.ts';
import {
  dayWindow,
  minuteWindow,
  type RateLimits,
  requireSlot,
  userWindow,
  writeKeyHeaders,
  writeUserHeaders,
} from './identity/rates.ts';
import type { Incident } from './incident.ts';
import type { Observer } from './observing/observer.ts';
import type { ErrorFamily, InputOf, Operation } from './operation.ts';
import type { Clock } from './ports/clock.ts';
import type { Ids } from './ports/ids.ts';
import type { RateLimiter } from './ports/limiter.ts';
import { isStorageUnavailable } from './ports/store.ts';
import { type Handler, Reply } from './reply.ts';

/** What the straight line before every handler needs. */
export interface PipelineServices {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly authenticator: Authenticator;
  readonly limiter: RateLimiter;
  readonly limits: RateLimits;
  readonly observer?: Observer;
  readonly onError: (incident: Incident) => void;
}

/** What is the same for every call of a route. */
export interface Steps {
  readonly operation: Operation;
  readonly services: PipelineServices;
  readonly handler: Handler<Operation>;
  /** Of an answer that does not say its own. */
  readonly status: number;
}

/**
 * One call, top to bottom: authenticate 401, scopes 403, limits 429, parameters 404, query 422, body 413/400/422,
 * handler, answer. What refuses before the limiter costs nothing and shows no limit headers.
 */
export async function runRoute(
  { operation, services, handler, status }: Steps,
  request: ApiRequest,
  params: Readonly<Record<string, string>>,
): Promise<ApiResponse> {
  const requestId = requestIdOf(request.headers, () => services.ids.requestId());
  const headers = baseHeaders(operation, requestId);
  try {
    let caller: Caller | undefined;
    if (operation.auth !== 'none') {
      const found = services.authenticator.authenticate(request.headers, operation.auth);
      caller = found instanceof Promise ? await found : found;
      checkScopes(operation, caller);
      await takeSlots(operation, services, caller, headers);
    }
    const input = await readInput(operation, request, params);
    // Operations without credentials never look at the caller; their handlers' types say so.
    const call = callOf(request, requestId, caller as Caller, services.ids.next());
    return answer(status, headers, await handler(input, call));
  } catch (error) {
    return refuse(operation, services, headers, requestId, error);
  }
}

/** A refusal that needs no handler: an undeclared method, a path that cannot be decoded. */
export function refuse(
  operation: Operation,
  services: PipelineServices,
  headers: Record<string, string>,
  requestId: string,
  cause: unknown,
): ApiResponse {
  const error = asApiError(operation.family, cause);
  if (error.status >= 500) {
    services.onError({ operation: operation.id, requestId, error: error.cause ?? cause });
  }
  if (error.status === 401 && error.code !== 'provider_rejected') headers['WWW-Authenticate'] = 'Bearer';
  headers['Content-Type'] = 'application/json; charset=utf-8';
  Object.assign(headers, error.headers);
  const body = errorBody(operation.family, error, requestId, services.clock.now());
  return { status: error.status, headers, body: JSON.stringify(body) };
}

export function baseHeaders(operation: Operation, requestId: string): Record<string, string> {
  const headers: Record<string, string> = { 'X-Request-ID': requestId };
  if (operation.auth !== 'none') headers['Cache-Control'] = 'private, no-store';
  if (operation.openOrigin === true) headers['Access-Control-Allow-Origin'] = '*';
  return headers;
}

/** Reads lazily what is rarely used: asking for the signal makes the bridge create one. */
class PipelineCall implements Call {
  readonly #request: ApiRequest;
  readonly id: string;
  readonly requestId: string;
  readonly caller: Caller;
  constructor(request: ApiRequest, requestId: string, caller: Caller, id: string) {
    this.#request = request;
    this.requestId = requestId;
    this.caller = caller;
    this.id = id;
  }
  get request(): ApiRequest {
    return this.#request;
  }
  get signal(): AbortSignal {
    return this.#request.signal;
  }
  get mountPath(): string {
    return this.#request.mountPath;
  }
}

function callOf(request: ApiRequest, requestId: string, caller: Caller, id: string): Call {
  return new PipelineCall(request, requestId, caller, id);
}

async function takeSlots(
  operation: Operation,
  services: PipelineServices,
  caller: Caller,
  headers: Record<string, string>,
): Promise<void> {
  const { limiter } = services;
  const now = services.clock.now();
  if (caller.kind === 'token') {
    if (operation.rate.user === 'unlimited') return;
    const windows = [userWindow(services.limits, operation.rate.user)];
    const decision = await limiter.take(`user:${caller.userId}:${operation.rate.user}`, windows, now);
    writeUserHeaders(headers, decision.windows);
    return requireSlot(decision, now);
  }
  if (operation.rate.key === 'unlimited') return;
  const name = `key:${caller.keyId}`;
  if (operation.rate.key === 'standard') {
    const decision = await limiter.take(name, [minuteWindow(caller), dayWindow(caller)], now);
    writeKeyHeaders(headers, decision.windows);
    return requireSlot(decision, now);
  }
  const decision = await limiter.take(name, [minuteWindow(caller)], now);
  writeKeyHeaders(headers, decision.windows);
  writeKeyHeaders(headers, await limiter.peek(name, [dayWindow(caller)], now));
  requireSlot(decision, now);
}

/** Of a body that nothing is read from. */
const NO_FIELDS = z.looseObject({});

async function readInput(
  operation: Operation,
  request: ApiRequest,
  params: Readonly<Record<string, string>>,
): Promise<InputOf<Operation>> {
  const { input, bodyLimit = DEFAULT_BODY_LIMIT } = operation;
  const parsedParams = input.params && readParams(operation, params);
  const query = input.query && validate(input.query, parseQuery(request.query));
  let body: unknown;
  if (input.body !== undefined && operation.bodyType !== 'multipart') {
    body = await readBody(operation, input.body, request, bodyLimit);
  } else if (operation.family === 'application' && operation.bodyType !== 'multipart') {
    await checkUnused(operation, request, bodyLimit);
  }
  return { params: parsedParams, query, body } as InputOf<Operation>;
}

/** Of a body nobody asks for: with some methods there must be none, with the others it must be what bodies are. */
async function checkUnused(operation: Operation, request: ApiRequest, limit: number): Promise<void> {
  const { method } = operation;
  if (method !== 'GET' && method !== 'DELETE') await readBody(operation, NO_FIELDS, request, limit);
  else if (await hasBody(request)) {
    throw new ApiError(400, `${method} takes no request body`, { applicationCode: 'VALIDATION_ERROR' });
  }
}

/** A malformed id is an unknown one. */
function readParams(operation: Operation, params: Readonly<Record<string, string>>): unknown {
  const result = operation.input.params?.safeParse(params);
  if (result?.success !== true) throw notFound(operation.subject ?? 'Resource', operation.subjectCode);
  return result.data;
}

/** Faults of the schema answer as the operation says; what is no JSON at all answers alike everywhere. */
async function readBody(
  { bodyFault }: Operation,
  schema: z.ZodType,
  request: ApiRequest,
  limit: number,
): Promise<unknown> {
  try {
    return validate(schema, await readJson(request, limit));
  } catch (error) {
    if (bodyFault === undefined || !isApiError(error) || error.status !== 422) throw error;
    throw new ApiError(bodyFault.status, error.message, {
      applicationCode: bodyFault.applicationCode,
      ...(error.details !== undefined && { details: error.details }),
    });
  }
}

function answer(status: number, headers: Record<string, string>, output: unknown): ApiResponse {
  if (output instanceof Reply) {
    return { status: output.status, headers: Object.assign(headers, output.headers), body: output.body };
  }
  if (output === undefined) return { status, headers, body: undefined };
  headers['Content-Type'] = 'application/json; charset=utf-8';
  return { status, headers, body: JSON.stringify(output) };
}

function asApiError(family: ErrorFamily, error: unknown): ApiError {
  if (isApiError(error)) return error;
  if (isStorageUnavailable(error)) {
    return new ApiError(503, 'The service is temporarily unavailable. Try again shortly.', {
      headers: { 'Retry-After': '5' },
      applicationCode: 'INTERNAL_ERROR',
      cause: error,
    });
  }
  const message = family === 'completions' ? 'Model response error: internal error' : 'Internal server error';
  return new ApiError(500, message, { cause: error });
}
