/** Codes a client may branch on. @see open points, 1.9; the set is open: new ones may be added. */
export type ErrorCode =
  | 'insufficient_credits'
  | 'spend_cap_exceeded'
  | 'provider_not_configured'
  | 'provider_rejected'
  | 'provider_overloaded'
  | 'provider_error'
  | 'provider_timeout'
  | 'request_timeout'
  | 'invalid_request'
  | 'limit_exceeded'
  | 'context_length_exceeded'
  | 'agent_limit_reached'
  | 'input_image_not_found'
  | 'missing_input_image'
  | 'unexpected_input_image'
  | 'model_disabled'
  | 'model_unavailable'
  | 'unsupported_duration'
  | 'unsupported_aspect_ratio'
  | 'unsupported_resolution'
  | 'unsupported_mode'
  | 'unsupported_audio_option'
  | 'unsupported_input'
  | 'idempotency_key_reused'
  | 'invalid_idempotency_key'
  | 'content_blocked'
  | 'region_unavailable'
  | 'output_too_large'
  | 'cancelled';

/** One fault of a query or body: where, and what is wrong with it. */
export interface FaultDetail {
  readonly path: string;
  readonly message: string;
}

export interface RefusalOptions {
  readonly code?: ErrorCode;
  /** The code in the application family, when it is not the status's usual one. */
  readonly applicationCode?: string;
  /** Stands beside the message in the body, never nested. */
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Application family: faults by field, or facts a client acts on. */
  readonly details?: readonly FaultDetail[] | Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** What a handler throws to say what happened. The operation's error family decides how it looks on the wire. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: ErrorCode | undefined;
  readonly applicationCode: string | undefined;
  readonly extra: Readonly<Record<string, unknown>> | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly details: RefusalOptions['details'];

  constructor(status: number, message: string, options: RefusalOptions = {}) {
    super(message, { cause: options.cause });
    this.status = status;
    this.code = options.code;
    this.applicationCode = options.applicationCode;
    this.extra = options.extra;
    this.headers = options.headers;
    this.details = options.details;
  }
}

/** Told by name: the ESM and CommonJS builds of this module may both be loaded. */
export function isApiError(error: unknown): error is ApiError {
  return error instanceof Error && error.name === 'ApiError' && 'status' in error;
}

/** 404: unknown, deleted, malformed and another user's ids all read the same. */
export function notFound(what: string, applicationCode?: string): ApiError {
  return new ApiError(404, `${what} not found`, applicationCode === undefined ? {} : { applicationCode });
}

/** 422 for one field: says where, and what is wanted. */
export function invalid(path: string, message: string, code?: ErrorCode): ApiError {
  return new ApiError(422, path === '' ? message : `${path}: ${message}`, {
    ...(code !== undefined && { code }),
    details: [{ path, message }],
  });
}

export function forbidden(message: string): ApiError {
  return new ApiError(403, message);
}

export function conflict(message: string): ApiError {
  return new ApiError(409, message);
}
