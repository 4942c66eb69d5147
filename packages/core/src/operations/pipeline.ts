import type * as z from 'zod';
import type { Call, Caller } from '../contract/call.ts';
import type { ApiRequest, ApiResponse } from '../contract/message.ts';
import type { ErrorFamily, Operation, ValidatedInput } from '../contract/operation.ts';
import { type Handler, Reply } from '../contract/reply.ts';
import { DEFAULT_BODY_LIMIT, hasBody, type LargerBodies, readJson } from '../http/body.ts';
import type { NarrowSchema } from '../http/present-fields.ts';
import { getRequestId } from '../http/request-id.ts';
import { parseQuery, validate } from '../http/validation.ts';
import type { Authenticator } from '../identity/credentials.ts';
import type { Observer } from '../observability/observer.ts';
import type { Ids } from '../ports/ids.ts';
import type { WindowState } from '../ports/limiter.ts';
import { isProviderError } from '../ports/models.ts';
import { isCrossShardWrite, isStorageUnavailable } from '../ports/store.ts';
import { ApiError, isApiError, notFound, storageAway } from '../shared/errors.ts';
import type { Incident } from '../shared/incident.ts';
import type { StopSignal } from '../shared/stop-signal.ts';
import { errorBody } from './families.ts';
import { checkScopes } from './gate.ts';
import type { PaidCalls } from './paid-calls.ts';
import { type SlotServices, takeSlots } from './slots.ts';

/** The services that the pipeline uses before every handler. */
export interface PipelineServices extends SlotServices {
  readonly ids: Ids;
  readonly authenticator: Authenticator;
  /** Absent: no separate limit for paid calls. */
  readonly paidCalls?: PaidCalls;
  readonly observer?: Observer;
  readonly onError: (incident: Incident) => void;
}

/** A body of another form at the same path, with its own handler. All else is that of the operation. */
export interface BodyVariant extends LargerBodies {
  /** Maximum size in bytes, at least that of the operation. */
  readonly limit: number;
  readonly schema: z.ZodType;
  readonly handler: Handler<Operation>;
}

/** The data that is the same for every call of a route. */
export interface Steps {
  readonly operation: Operation;
  readonly services: PipelineServices;
  readonly handler: Handler<Operation>;
  readonly variant?: BodyVariant | undefined;
  /** Finds a faster schema for a body of the operation. */
  readonly narrowBody?: NarrowSchema | undefined;
  /** The default status of a response. */
  readonly status: number;
}

/**
 * Processes one call, in this order: authentication 401, scopes 403, rate limits 429, parameters 404, query 422, body
 * 413/400/422, handler, response. Errors before the rate limiter do not count towards limits and have no rate limit
 * headers.
 */
export async function runRoute(
  steps: Steps,
  request: ApiRequest,
  params: Readonly<Record<string, string>>,
): Promise<ApiResponse> {
  const { operation, services, status } = steps;
  const requestId = getRequestId(request.headers, () => services.ids.requestId());
  const headers = baseHeaders(operation, requestId);
  try {
    let caller: Caller | undefined;
    let windows: readonly WindowState[] | undefined;
    if (operation.auth !== 'none') {
      const found = authenticate(steps, request, operation.auth);
      caller = found instanceof Promise ? await found : found;
      checkScopes(operation, caller);
      const taking = takeSlots(operation, services, caller, headers);
      if (taking !== undefined) windows = await taking;
      const counting = operation.paid === true ? services.paidCalls?.take(caller.userId) : undefined;
      if (counting !== undefined) await counting;
    }
    const reading = readInput(steps, request, params);
    const { input, handle } = reading instanceof Promise ? await reading : reading;
    // Handlers of operations without authentication have no caller in their type.
    const call = new PipelineCall(steps, request, requestId, caller as Caller, windows);
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

function authenticate(
  { operation, services }: Steps,
  request: ApiRequest,
  auth: Exclude<Operation['auth'], 'none'>,
): Caller | Promise<Caller> {
  return services.authenticator.authenticate(request.headers, auth, request, operation.changesOnGet);
}

/** Reads rarely used parts lazily; for example, the adapter creates the signal on first use. */
class PipelineCall implements Call {
  readonly #steps: Steps;
  readonly #request: ApiRequest;
  readonly id: string;
  readonly requestId: string;
  readonly caller: Caller;
  readonly windows: readonly WindowState[] | undefined;
  constructor(
    steps: Steps,
    request: ApiRequest,
    requestId: string,
    caller: Caller,
    windows: readonly WindowState[] | undefined,
  ) {
    this.#steps = steps;
    this.#request = request;
    this.requestId = requestId;
    this.caller = caller;
    this.id = steps.services.ids.next();
    this.windows = windows;
  }
  get request(): ApiRequest {
    return this.#request;
  }
  get signal(): AbortSignal {
    return this.#request.signal;
  }
  get connection(): StopSignal | undefined {
    return this.#request.connection;
  }
  get mountPath(): string {
    return this.#request.mountPath;
  }
  async checkCredential(): Promise<void> {
    const { operation } = this.#steps;
    if (operation.auth === 'none') return;
    const caller = await authenticate(this.#steps, this.#request, operation.auth);
    checkScopes(operation, caller);
    // The host may have signed another user in with the same session.
    if (caller.userId !== this.caller.userId)
      throw new ApiError(401, 'The caller of this request has changed');
  }
}

/** What a call has sent, and the handler of this form. */
interface ReadInput {
  readonly input: ValidatedInput<Operation>;
  readonly handle: Handler<Operation>;
}

/** A promise only if there is a body to read. */
function readInput(
  steps: Steps,
  request: ApiRequest,
  params: Readonly<Record<string, string>>,
): ReadInput | Promise<ReadInput> {
  const { operation, handler } = steps;
  const { input, family, bodyType } = operation;
  const read = {
    params: input.params && readParams(operation, params),
    query: input.query && validate(input.query, parseQuery(request.query)),
    body: undefined,
  };
  if (input.body !== undefined && bodyType !== 'multipart') return readBody(steps, input.body, request, read);
  const known = { input: read as ValidatedInput<Operation>, handle: handler };
  if (family !== 'application' || bodyType === 'multipart') return known;
  return checkUnused(operation, request).then(() => known);
}

async function readBody(
  { operation, handler, variant, narrowBody }: Steps,
  schema: z.ZodType,
  request: ApiRequest,
  read: { readonly params: unknown; readonly query: unknown },
): Promise<ReadInput> {
  const { bodyLimit: limit = DEFAULT_BODY_LIMIT, bodyType } = operation;
  try {
    const value = await readJson(request, {
      limit,
      larger: variant,
      allowsForm: bodyType === 'json-or-form',
    });
    const isVariant = variant?.matches(value) === true;
    const body = isVariant ? validate(variant.schema, value) : validate(schema, value, narrowBody);
    const handle = isVariant ? variant.handler : handler;
    return { input: { ...read, body } as ValidatedInput<Operation>, handle };
  } catch (error) {
    throw toBodyFault(operation, error);
  }
}

/**
 * Checks the body of an operation without input: GET and DELETE must have no body; other methods need a valid JSON
 * body, if any.
 */
async function checkUnused(operation: Operation, request: ApiRequest): Promise<void> {
  const { method, bodyLimit: limit = DEFAULT_BODY_LIMIT } = operation;
  if (method === 'GET' || method === 'DELETE') {
    if (!(await hasBody(request))) return;
    throw new ApiError(400, `${method} takes no request body`, { applicationCode: 'VALIDATION_ERROR' });
  }
  try {
    await readJson(request, { limit });
  } catch (error) {
    throw toBodyFault(operation, error);
  }
}

/** A malformed id gets 404, like an unknown id. */
function readParams(operation: Operation, params: Readonly<Record<string, string>>): unknown {
  const result = operation.input.params?.safeParse(params);
  if (result?.success !== true) throw notFound(operation.subject ?? 'Resource', operation.subjectCode);
  return result.data;
}

/** Validation errors use the status of the operation; invalid JSON always gets 400. */
function toBodyFault({ bodyFault }: Operation, error: unknown): unknown {
  if (bodyFault === undefined || !isApiError(error) || error.status !== 422) return error;
  return new ApiError(bodyFault.status, error.message, {
    applicationCode: bodyFault.applicationCode,
    ...(error.details !== undefined && { details: error.details }),
  });
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
  if (isStorageUnavailable(error)) return storageAway(error);
  if (isCrossShardWrite(error)) {
    const reason = 'This would change records of users in two databases in one step, which is not possible';
    return new ApiError(409, reason, { cause: error });
  }
  const message = family === 'completions' ? 'Model response error: internal error' : 'Internal server error';
  return new ApiError(500, message, { cause: error });
}
