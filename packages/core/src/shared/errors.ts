/** Codes that clients may branch on. New codes may be added. */
export type ErrorCode =
  | 'insufficient_credits'
  | 'spend_cap_exceeded'
  | 'budget_exceeded'
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
  | 'model_not_allowed'
  | 'model_unavailable'
  | 'unsupported_duration'
  | 'unsupported_aspect_ratio'
  | 'unsupported_resolution'
  | 'unsupported_mode'
  | 'unsupported_audio_option'
  | 'unsupported_input'
  | 'idempotency_key_reused'
  | 'idempotency_key_spent'
  | 'approval_used'
  | 'invalid_idempotency_key'
  | 'content_blocked'
  | 'region_unavailable'
  | 'output_too_large'
  | 'cancelled';

/** Codes of refusals for lack of credit, or of room under a limit on spending. */
export const CREDIT_CODES = [
  'insufficient_credits',
  'spend_cap_exceeded',
  'budget_exceeded',
] as const satisfies readonly ErrorCode[];

export type CreditCode = (typeof CREDIT_CODES)[number];

export function isCreditCode(code: string | undefined): code is CreditCode {
  return (CREDIT_CODES as readonly (string | undefined)[]).includes(code);
}

/** Without the sums of an account, and without the names of budgets. */
const WITHOUT_SUMS: Readonly<Record<CreditCode, string>> = {
  insufficient_credits: 'Insufficient credits.',
  spend_cap_exceeded: 'Spend cap reached.',
  budget_exceeded: 'Budget exceeded.',
};

/** What others than the caller may read of an error: nothing about the account that pays. */
export function describeWithoutSums({ code, message }: Pick<ApiError, 'code' | 'message'>): string {
  return isCreditCode(code) ? WITHOUT_SUMS[code] : message;
}

/** Codes of the OAuth family: RFC 6749 section 5.2, RFC 6750 section 3.1, RFC 8628 section 3.5, and `invalid_code`. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_grant'
  | 'invalid_token'
  | 'invalid_code'
  | 'authorization_pending'
  | 'slow_down'
  | 'expired_token'
  | 'access_denied'
  | 'not_found'
  | 'too_many_requests'
  | 'server_error'
  | 'temporarily_unavailable';

/** One validation issue of a query or body: its path and message. */
export interface IssueDetail {
  readonly path: string;
  readonly message: string;
}

/** What an error response contains besides status and message. */
export interface ApiErrorOptions {
  readonly code?: ErrorCode;
  /** The code in the application family. Default: the code of the status. */
  readonly applicationCode?: string;
  /** The code in the OAuth family. Default: the code of the status. */
  readonly oauthCode?: OAuthErrorCode;
  /** Additional top-level fields of the error body. */
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Application family: issues by field, or data for the client. */
  readonly details?: readonly IssueDetail[] | Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/**
 * The error that handlers throw: an HTTP status from 400 to 599, and a message that the client sees. The operation's error
 * family decides its format on the wire.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: ErrorCode | undefined;
  readonly applicationCode: string | undefined;
  readonly oauthCode: OAuthErrorCode | undefined;
  readonly extra: Readonly<Record<string, unknown>> | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly details: ApiErrorOptions['details'];

  constructor(status: number, message: string, options: ApiErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.status = status;
    this.code = options.code;
    this.applicationCode = options.applicationCode;
    this.oauthCode = options.oauthCode;
    this.extra = options.extra;
    this.headers = options.headers;
    this.details = options.details;
  }
}

/** Whether an error is an `ApiError`. Compares the name, not the class: the ESM and CommonJS builds of this module may both be loaded. */
export function isApiError(error: unknown): error is ApiError {
  return error instanceof Error && error.name === 'ApiError' && 'status' in error;
}

/** Creates a 404. It is the same for unknown, deleted and malformed ids and for ids of other users. */
export function notFound(what: string, applicationCode?: string): ApiError {
  return new ApiError(404, `${what} not found`, applicationCode === undefined ? {} : { applicationCode });
}

/** Creates a 422 for one field, with its path and the expectation. */
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

/** Creates the 503 of unavailable storage. */
export function storageAway(cause: unknown): ApiError {
  return new ApiError(503, 'The service is temporarily unavailable. Try again shortly.', {
    headers: { 'Retry-After': '5' },
    applicationCode: 'INTERNAL_ERROR',
    cause,
  });
}
