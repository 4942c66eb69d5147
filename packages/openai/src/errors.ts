import { ApiError, type ApiErrorOptions, isApiError } from '@questline/core';
import { type ErrorFormat, type IssueDetail, isCreditCode, toVendorStatus } from '@questline/core/internal';

/** The `error` object of the wire. */
export interface WireError {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
};

const CODES: Readonly<Record<number, string>> = {
  401: 'invalid_api_key',
  403: 'insufficient_permissions',
  404: 'not_found',
  405: 'method_not_allowed',
  409: 'conflict',
  413: 'request_too_large',
  429: 'rate_limit_exceeded',
};

/** The status of used-up credit. */
const OUT_OF_CREDIT = 429;

/** Errors in the shape of the OpenAI API. Validation errors are 400; used-up credit is `insufficient_quota`. */
export const openAIErrors: ErrorFormat = (error) => {
  const { status, headers } = toVendorStatus(error, OUT_OF_CREDIT);
  return { status, headers, body: { error: toWireError(error) } };
};

export function toWireError(error: ApiError): WireError {
  const { status } = toVendorStatus(error, OUT_OF_CREDIT);
  if (isCreditCode(error.code)) {
    return { message: error.message, type: 'insufficient_quota', param: null, code: 'insufficient_quota' };
  }
  return {
    message: error.message,
    type: TYPES[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error'),
    param: toParam(error.details),
    code: toCode(error, status),
  };
}

/** Refuses a field that would change the answer and has no place here. */
export function unsupported(path: string, message: string): ApiError {
  return issue(path, `not supported: ${message}`, { code: 'unsupported_input' });
}

/** A 400 about one field. */
export function issue(path: string, message: string, options: ApiErrorOptions = {}): ApiError {
  return new ApiError(400, `${formatPath(path)}: ${message}`, { ...options, details: [{ path, message }] });
}

/** The same error, for a request that must not be repeated: a call of a tool server may have changed something. */
export function withoutRetry(error: unknown): unknown {
  if (!isApiError(error)) return error;
  const { status, message, code, extra, details, cause } = error;
  const headers = { ...error.headers, 'x-should-retry': 'false' };
  return new ApiError(status, message, {
    headers,
    cause,
    ...(code !== undefined && { code }),
    ...(extra !== undefined && { extra }),
    ...(details !== undefined && { details }),
  });
}

function toCode({ code, extra }: ApiError, status: number): string | null {
  if (typeof extra?.code === 'string') return extra.code;
  if (code === 'unsupported_input') return 'unsupported_parameter';
  if (status === 404 && code === 'model_unavailable') return 'model_not_found';
  return code ?? CODES[status] ?? null;
}

function toParam(details: ApiError['details']): string | null {
  const [first] = (Array.isArray(details) ? details : []) as readonly IssueDetail[];
  return first === undefined || first.path === '' ? null : formatPath(first.path);
}

/** `messages.0.role` as the vendor writes it: `messages[0].role`. */
function formatPath(path: string): string {
  return path.replaceAll(/\.(\d+)(?=\.|$)/g, '[$1]');
}
