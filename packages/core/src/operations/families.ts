import type { ErrorFamily } from '../contract/operation.ts';
import type { ApiError, OAuthErrorCode } from '../shared/errors.ts';

/** The sunset of the deprecated field `name` in error bodies. */
export const NAME_SUNSET = Date.UTC(2026, 11, 1);

const NAMES: Readonly<Record<number, string>> = {
  400: 'BadRequestError',
  401: 'UnauthorizedError',
  403: 'ForbiddenError',
  404: 'NotFoundError',
  405: 'MethodNotAllowedError',
  409: 'ConflictError',
  413: 'PayloadTooLargeError',
  422: 'UnprocessableEntityError',
  429: 'TooManyRequestsError',
  502: 'BadGatewayError',
  503: 'ServiceUnavailableError',
  504: 'GatewayTimeoutError',
};

const APPLICATION_CODES: Readonly<Record<number, string>> = {
  400: 'VALIDATION_ERROR',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  409: 'CONFLICT',
  413: 'PAYLOAD_TOO_LARGE',
  422: 'VALIDATION_ERROR',
  429: 'RATE_LIMIT_EXCEEDED',
  502: 'PROVIDER_ERROR',
  503: 'PROVIDER_ERROR',
  504: 'PROVIDER_ERROR',
};

const OAUTH_CODES: Readonly<Record<number, OAuthErrorCode>> = {
  400: 'invalid_request',
  401: 'invalid_token',
  403: 'access_denied',
  404: 'not_found',
  405: 'invalid_request',
  413: 'invalid_request',
  422: 'invalid_request',
  429: 'too_many_requests',
  503: 'temporarily_unavailable',
};

/** Returns the error body in the format of the family. */
export function errorBody(
  family: ErrorFamily,
  error: ApiError,
  requestId: string,
  now: number,
): Record<string, unknown> {
  switch (family) {
    case 'public':
      return {
        error: error.message,
        request_id: requestId,
        ...(error.code !== undefined && { errorCode: error.code }),
        ...(now < NAME_SUNSET && { name: NAMES[error.status] ?? 'InternalServerError' }),
        ...error.extra,
      };
    case 'completions':
      return {
        type: 'error',
        message: error.message,
        request_id: requestId,
        ...(error.code !== undefined && { errorCode: error.code }),
        ...error.extra,
      };
    case 'application':
      return {
        error: {
          code: error.applicationCode ?? getCode(error),
          message: error.message,
          ...(error.details !== undefined && { details: error.details }),
        },
        timestamp: new Date(now).toISOString(),
        request_id: requestId,
        ...error.extra,
      };
    case 'oauth':
      return {
        error: error.oauthCode ?? OAUTH_CODES[error.status] ?? 'server_error',
        error_description: error.message,
        request_id: requestId,
        ...error.extra,
      };
  }
}

function getCode(error: ApiError): string {
  if (error.code === 'insufficient_credits') return 'INSUFFICIENT_CREDITS';
  // Its status may be 401 although the caller's token is valid.
  if (error.code?.startsWith('provider_')) return 'PROVIDER_ERROR';
  return APPLICATION_CODES[error.status] ?? 'INTERNAL_ERROR';
}
