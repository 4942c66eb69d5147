import * as z from 'zod';
import type { Call, Caller, TokenCaller } from '../contract/call.ts';
import type { ApiRequest, ApiResponse } from '../contract/message.ts';
import {
  type ErrorFamily,
  getUserRateClass,
  type Operation,
  type ValidatedInput,
} from '../contract/operation.ts';
import { type Handler, Reply } from '../contract/reply.ts';
import { type BodyOptions, DEFAULT_BODY_LIMIT, hasBody, type LargerBodies, readJson } from '../http/body.ts';
import { getRequestId } from '../http/request-id.ts';
import { parseQuery, validate } from '../http/validation.ts';
import type { Authenticator } from '../identity/credentials.ts';
import type { Observer } from '../observability/observer.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { RateLimiter, WindowState } from '../ports/limiter.ts';
import { isProviderError } from '../ports/models.ts';
import { isStorageUnavailable } from '../ports/store.ts';
import { ApiError, isApiError, notFound } from '../shared/errors.ts';
import type { Incident } from '../shared/incident.ts';
import { errorBody } from './families.ts';
import { checkScopes } from './gate.ts';
import type { PaidCalls } from './paid-calls.ts';
import {
  dayWindow,
  hostWindows,
  minuteWindow,
  type RateLimits,
  requireSlot,
  userWindow,
  writeKeyHeaders,
  writeUserHeaders,
} from './rates.ts';

/** The services that the pipeline uses before every handler. */
export interface PipelineServices {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly authenticator: Authenticator;
  readonly limiter: RateLimiter;
  readonly limits: RateLimits;
  /** Absent: no separate limit for paid calls. */
  readonly paidCalls?: PaidCalls;
  readonly observer?: Observer;
  readonly onError: (incident: Incident) => void;
}

/** A body of another form at the same path, with its own handler. All else is that of the operation. */
export interface BodyVariant {
  /** Maximum size in bytes, at least that of the operation. */
  readonly bodyLimit: number;
  matches(body: unknown): boolean;
  readonly schema: z.ZodType;
  readonly handler: Handler<Operation>;
}

/** The data that is the same for every call of a route. */
export interface Steps {
  readonly operation: Operation;
  readonly services: PipelineServices;
  readonly handler: Handler<Operation>;
  readonly variant?: BodyVariant | undefined;
  /** The default status of a response. */
  readonly status: number;
}

/**
 * Processes one call, in this order: authentication 401, scopes 403, rate limits 429, parameters 404, query 422, body
 * 413/400/422, handler, response. Errors before the rate limiter do not count towards limits and have no rate limit
 * headers.
 */
export async function runRoute(
  { operation, services, handler, variant, status }: Steps,
  request: ApiRequest,
  params: Readonly<Record<string, string>>,
): Promise<ApiResponse> {
  const requestId = getRequestId(request.headers, () => services.ids.requestId());
  const headers = baseHeaders(operation, requestId);
  try {
    let caller: Caller | undefined;
    let windows: readonly WindowState[] | undefined;
    if (operation.auth !== 'none') {
      const found = services.authenticator.authenticate(
        request.headers,
        operation.auth,
        request,
        operation.changesOnGet,
      );
      caller = found instanceof Promise ? await found : found;
      checkScopes(operation, caller);
      windows = await takeSlots(operation, services, caller, headers);
      if (operation.paid === true) await services.paidCalls?.take(caller.userId);
    }
    let handle = handler;
    const choose: ChooseSchema = (usual, body) => {
      if (variant?.matches(body) !== true) return usual;
      handle = variant.handler;
      return variant.schema;
    };
    const larger = variant && { limit: variant.bodyLimit, matches: (body: unknown) => variant.matches(body) };
    const input = await readInput(operation, request, params, choose, larger);
    // Handlers of operations without authentication have no caller in their type.
    const call = toCall(request, requestId, caller as Caller, services.ids.next(), windows);
    return answer(status, headers, await handle(input, call));
  } catch (error) {
    return refuse(operation, services, headers, requestId, error);
  }
}

/** An error response without a handler: an undeclared method or an undecodable path. */
export function refuse(
  operation: Operation,
  services: PipelineServices,
  headers: Record<string, string>,
  requestId: string,
  cause: unknown,
): ApiResponse {
  const error = asApiError(operation.family, cause);
  // Report provider errors to the operator too, with any status.
  if (error.status >= 500 || isProviderError(error.cause)) {
    services.onError({ operation: operation.id, requestId, error: error.cause ?? cause });
  }
  if (error.status === 401 && error.code !== 'provider_rejected') headers['WWW-Authenticate'] = 'Bearer';
  headers['Content-Type'] = 'application/json; charset=utf-8';
  Object.assign(headers, error.headers);
  if (operation.errorFormat !== undefined) {
    const written = operation.errorFormat(error, requestId);
    Object.assign(headers, written.headers);
    return { status: written.status, headers, body: JSON.stringify(written.body) };
  }
  const body = errorBody(operation.family, error, requestId, services.clock.now());
  return { status: error.status, headers, body: JSON.stringify(body) };
}

export function baseHeaders(operation: Operation, requestId: string): Record<string, string> {
  const headers: Record<string, string> = { 'X-Request-ID': requestId };
  if (operation.auth !== 'none') headers['Cache-Control'] = 'private, no-store';
  if (operation.openOrigin === true) headers['Access-Control-Allow-Origin'] = '*';
  return headers;
}

/** Reads rarely used parts lazily; for example, the adapter creates the signal on first use. */
class PipelineCall implements Call {
  readonly #request: ApiRequest;
  readonly id: string;
  readonly requestId: string;
  readonly caller: Caller;
  readonly windows: readonly WindowState[] | undefined;
  constructor(
    request: ApiRequest,
    requestId: string,
    caller: Caller,
    id: string,
    windows: readonly WindowState[] | undefined,
  ) {
    this.#request = request;
    this.requestId = requestId;
    this.caller = caller;
    this.id = id;
    this.windows = windows;
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

function toCall(...facts: ConstructorParameters<typeof PipelineCall>): Call {
  return new PipelineCall(...facts);
}

/** @returns the states of the caller's windows; undefined without a limit. @throws ApiError 429. */
async function takeSlots(
  operation: Operation,
  services: PipelineServices,
  caller: Caller,
  headers: Record<string, string>,
): Promise<readonly WindowState[] | undefined> {
  const { limiter } = services;
  const now = services.clock.now();
  if (caller.kind === 'token') {
    if (caller.isFromHost === true) await takeHostSlot(limiter, caller, now);
    const rateClass = getUserRateClass(operation);
    if (rateClass === undefined) return undefined;
    const windows = [userWindow(services.limits, rateClass)];
    const decision = await limiter.take(`user:${caller.userId}:${rateClass}`, windows, now);
    writeUserHeaders(headers, decision.windows);
    requireSlot(decision, now);
    return decision.windows;
  }
  if (operation.rate.key === 'unlimited') return undefined;
  const name = `key:${caller.keyId}`;
  const isWhole = operation.rate.key === 'standard';
  const [minute, day] = [minuteWindow(caller), dayWindow(caller)];
  const decision = isWhole
    ? await limiter.take(name, [minute, day], now)
    : await limiter.take(name, [minute], now, { report: [day] });
  const states =
    decision.windows.length > 1
      ? decision.windows
      : [...decision.windows, ...(await limiter.peek(name, [day], now))];
  writeKeyHeaders(headers, states);
  requireSlot(decision, now);
  return states;
}

/** The limits that the host sets for a user, in addition to those of the service. */
async function takeHostSlot(limiter: RateLimiter, caller: TokenCaller, now: number): Promise<void> {
  const windows = hostWindows(caller);
  if (windows.length > 0) requireSlot(await limiter.take(`identity:${caller.userId}`, windows, now), now);
}

/** The schema of an ignored body. */
const NO_FIELDS = z.looseObject({});

/** Returns the schema of a body. */
type ChooseSchema = (usual: z.ZodType, body: unknown) => z.ZodType;

async function readInput(
  operation: Operation,
  request: ApiRequest,
  params: Readonly<Record<string, string>>,
  choose: ChooseSchema,
  larger: LargerBodies | undefined,
): Promise<ValidatedInput<Operation>> {
  const { input, bodyLimit = DEFAULT_BODY_LIMIT } = operation;
  const parsedParams = input.params && readParams(operation, params);
  const query = input.query && validate(input.query, parseQuery(request.query));
  let body: unknown;
  const schema = input.body;
  if (schema !== undefined && operation.bodyType !== 'multipart') {
    body = await readBody(operation, (value) => choose(schema, value), request, { limit: bodyLimit, larger });
  } else if (operation.family === 'application' && operation.bodyType !== 'multipart') {
    await checkUnused(operation, request, bodyLimit);
  }
  return { params: parsedParams, query, body } as ValidatedInput<Operation>;
}

/**
 * Checks the body of an operation without input: GET and DELETE must have no body; other methods need a valid JSON
 * body, if any.
 */
async function checkUnused(operation: Operation, request: ApiRequest, limit: number): Promise<void> {
  const { method } = operation;
  if (method !== 'GET' && method !== 'DELETE') await readBody(operation, () => NO_FIELDS, request, { limit });
  else if (await hasBody(request)) {
    throw new ApiError(400, `${method} takes no request body`, { applicationCode: 'VALIDATION_ERROR' });
  }
}

/** A malformed id gets 404, like an unknown id. */
function readParams(operation: Operation, params: Readonly<Record<string, string>>): unknown {
  const result = operation.input.params?.safeParse(params);
  if (result?.success !== true) throw notFound(operation.subject ?? 'Resource', operation.subjectCode);
  return result.data;
}

/** Validation errors use the status of the operation; invalid JSON always gets 400. */
async function readBody(
  { bodyFault, bodyType }: Operation,
  getSchema: (body: unknown) => z.ZodType,
  request: ApiRequest,
  limits: Pick<BodyOptions, 'limit' | 'larger'>,
): Promise<unknown> {
  try {
    const value = await readJson(request, { ...limits, allowsForm: bodyType === 'json-or-form' });
    return validate(getSchema(value), value);
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

/** The store is unavailable. */
export function storageAway(cause: unknown): ApiError {
  return new ApiError(503, 'The service is temporarily unavailable. Try again shortly.', {
    headers: { 'Retry-After': '5' },
    applicationCode: 'INTERNAL_ERROR',
    cause,
  });
}

function asApiError(family: ErrorFamily, error: unknown): ApiError {
  if (isApiError(error)) return error;
  if (isStorageUnavailable(error)) return storageAway(error);
  const message = family === 'completions' ? 'Model response error: internal error' : 'Internal server error';
  return new ApiError(500, message, { cause: error });
}
