import { ApiError, type ApiErrorOptions } from '@questline/core';
import { type ErrorFormat, toVendorStatus } from '@questline/core/internal';

/** The body of an error, and the data of an `error` event. */
export interface WireErrorBody {
  readonly type: 'error';
  readonly error: { readonly type: string; readonly message: string };
  readonly request_id: string;
}

/** The status of used-up credit. No client retries it. */
const OUT_OF_CREDIT = 402;
const OVERLOADED = 529;

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  [OVERLOADED]: 'overloaded_error',
};

/** Errors in the shape of the Anthropic API. Used-up credit is `billing_error`; an overloaded provider is 529. */
export const anthropicErrors: ErrorFormat = (error, requestId) => {
  const { status, headers } = toStatus(error);
  return { status, headers, body: { ...toErrorBody(error, requestId) } };
};

export function toErrorBody(error: ApiError, requestId: string): WireErrorBody {
  const { status } = toStatus(error);
  const type = TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
  return { type: 'error', error: { type, message: error.message }, request_id: requestId };
}

function toStatus(error: ApiError): ReturnType<typeof toVendorStatus> {
  const { status, headers } = toVendorStatus(error, OUT_OF_CREDIT);
  return { status: error.code === 'provider_overloaded' ? OVERLOADED : status, headers };
}

/** A 400 about one field. */
export function issue(path: string, message: string, options: ApiErrorOptions = {}): ApiError {
  return new ApiError(400, `${path}: ${message}`, { ...options, details: [{ path, message }] });
}

/** Refuses a field that would change the answer and has no place here. */
export function unsupported(path: string, message: string): ApiError {
  return issue(path, `not supported: ${message}`, { code: 'unsupported_input' });
}
