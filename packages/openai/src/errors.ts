import { ApiError, type ApiErrorOptions } from '@questline/core';
import { type ErrorFormat, type IssueDetail, isCreditCode } from '@questline/core/internal';

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

/** Vendor SDKs retry 408, 409, 429 and 5xx unless this header forbids it. */
const NO_RETRY = { 'x-should-retry': 'false' };

/** Maximum Retry-After, in seconds, that vendor SDKs wait for. After a longer one they would retry too early. */
const MAX_WAIT_SECONDS = 60;

/** Errors in the shape of the OpenAI API. Validation errors are 400; used-up credit is `insufficient_quota`. */
export const openAIErrors: ErrorFormat = (error) => {
  const { status, headers } = toStatus(error);
  return { status, headers, body: { error: toWireError(error) } };
};

export function toWireError(error: ApiError): WireError {
  const { status } = toStatus(error);
  if (isOutOfCredit(error)) {
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

export function unknownModel(id: string, reason?: string): ApiError {
  const message = reason ?? `The model '${id.slice(0, 100)}' does not exist or you have no access to it.`;
  return new ApiError(404, message, { code: 'model_unavailable', details: [{ path: 'model', message }] });
}

function toStatus({ status, code, headers = {} }: ApiError): {
  status: number;
  headers: Readonly<Record<string, string>>;
} {
  if (isCreditCode(code)) {
    return { status: 429, headers: NO_RETRY };
  }
  // A 401 would be read as a bad key of the caller.
  if (code === 'provider_rejected') return { status: 502, headers: NO_RETRY };
  if (code === 'provider_not_configured') return { status, headers: NO_RETRY };
  if (status === 429 && Number(headers['Retry-After'] ?? 0) > MAX_WAIT_SECONDS) {
    return { status, headers: NO_RETRY };
  }
  return { status: status === 422 ? 400 : status, headers: {} };
}

function isOutOfCredit({ code }: ApiError): boolean {
  return isCreditCode(code);
}

function toCode({ code }: ApiError, status: number): string | null {
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
