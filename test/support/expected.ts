import type { Operation } from '@questline/core';
import { expect } from 'vitest';
import { NOW } from './test-app.ts';

/** The error for a signed-in user whose first message names no session. */
export const NO_SESSION =
  'You have no session to continue. In a chat, send "newConversation": true; otherwise name the sessionId of one that you created.';

/** The expected error in any error family. */
export interface ExpectedError {
  readonly status: number;
  readonly message: string;
  readonly errorCode?: string;
  /** Application and OAuth family: its code, if it is not the default of the status. */
  readonly code?: string;
  /** Application family only. */
  readonly details?: unknown;
  /** Additional properties of the body. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

const CODES: Readonly<Record<number, string>> = {
  400: 'VALIDATION_ERROR',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  409: 'CONFLICT',
  413: 'PAYLOAD_TOO_LARGE',
  422: 'VALIDATION_ERROR',
  429: 'RATE_LIMIT_EXCEEDED',
  500: 'INTERNAL_ERROR',
  503: 'INTERNAL_ERROR',
};

const OAUTH_CODES: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'invalid_token',
  405: 'invalid_request',
  413: 'invalid_request',
  429: 'too_many_requests',
  500: 'server_error',
  503: 'temporarily_unavailable',
};

/** The complete error body in the format of the operation's error family. */
export function refusalBody(
  { family }: Pick<Operation, 'family'>,
  refusal: ExpectedError,
  { requestId, now = NOW }: { readonly requestId: string; readonly now?: number },
): Record<string, unknown> {
  const { status, message, errorCode, code = CODES[status], details, extra } = refusal;
  const common = { request_id: requestId, ...(errorCode !== undefined && { errorCode }), ...extra };
  switch (family) {
    case 'public':
      return {
        error: message,
        ...common,
        // The value of the deprecated `name` is unspecified; it is present until 2026-12-01.
        ...(now < Date.UTC(2026, 11, 1) && { name: expect.stringMatching(/^[A-Z][A-Za-z]+$/) }),
      };
    case 'completions':
      return { type: 'error', message, ...common };
    case 'application':
      return {
        error: { code, message, ...(details !== undefined && { details }) },
        timestamp: new Date(now).toISOString(),
        request_id: requestId,
        ...extra,
      };
    case 'oauth':
      return {
        error: refusal.code ?? OAUTH_CODES[status],
        error_description: message,
        request_id: requestId,
        ...extra,
      };
  }
}

/** Headers of every answer of an operation. */
export function ownHeaders(operation: Operation, requestId: string): Record<string, string> {
  return {
    'x-request-id': requestId,
    ...(operation.auth !== 'none' && { 'cache-control': 'private, no-store' }),
    ...(operation.openOrigin === true && { 'access-control-allow-origin': '*' }),
  };
}

export const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

/** The six rate limit headers of an API key after `used` requests in windows that opened at `NOW`. */
export function keyHeaders(
  operation: Operation,
  used = 1,
  limits: { readonly minute?: number; readonly day?: number } = {},
): Record<string, string> {
  const { minute = 60, day = 1000 } = limits;
  const usedToday = operation.rate.key === 'day-exempt' ? 0 : used;
  return {
    'x-ratelimit-limit-minute': String(minute),
    'x-ratelimit-remaining-minute': String(minute - used),
    'x-ratelimit-reset-minute': String((NOW + 60_000) / 1000),
    'x-ratelimit-limit-day': String(day),
    'x-ratelimit-remaining-day': String(day - usedToday),
    'x-ratelimit-reset-day': String((NOW + 86_400_000) / 1000),
  };
}

/** The three rate limit headers of a signed-in user. */
export function userHeaders(limit: number, remaining: number, windowMs: number): Record<string, string> {
  return {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String((NOW + windowMs) / 1000),
  };
}
