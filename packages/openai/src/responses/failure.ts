import type { ApiError } from '@questline/core';
import { toWireError } from '../errors.ts';
import type { ResponseState } from './wire.ts';

/** The codes that clients know. Others are `server_error`. */
const FAILURES: readonly (string | null)[] = [
  'context_length_exceeded',
  'insufficient_quota',
  'rate_limit_exceeded',
];

/** The `error` of a failed response. */
export function toResponseError(error: ApiError): NonNullable<ResponseState['error']> {
  const { code, message } = toWireError(error);
  return { code: FAILURES.includes(code) && code !== null ? code : 'server_error', message };
}

/** The fields of the event `error`. */
export function toErrorEvent(error: ApiError): Readonly<Record<string, unknown>> {
  const { code, message, param, type } = toWireError(error);
  return { code, message, param, error: { type, code, message, param } };
}
