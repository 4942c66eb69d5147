import type { ProviderErrorKind } from '@questline/core';
import { record, text } from '../content/fields.ts';
import type { ErrorReading } from '../http/faults.ts';

const kinds: Readonly<Record<string, ProviderErrorKind>> = {
  authentication_error: 'rejected_key',
  permission_error: 'rejected_key',
  billing_error: 'rejected_key',
  rate_limit_error: 'overloaded',
  overloaded_error: 'overloaded',
  timeout_error: 'timeout',
  invalid_request_error: 'invalid_request',
  request_too_large: 'invalid_request',
  api_error: 'failed',
};

/** The API has one type for all bad requests; only the words tell these apart. */
const told: readonly (readonly [RegExp, ProviderErrorKind])[] = [
  [/prompt is too long|exceed(s)? (the )?(context|maximum)|context (window|length|limit)/i, 'context_length'],
  [/credit balance is too low/i, 'rejected_key'],
  [/content filter|usage polic/i, 'content_blocked'],
];

/** Reads `{type: 'error', error: {type, message}}`. */
export function readAnthropicError(body: unknown): ErrorReading {
  const { type, message } = record(record(body).error);
  const words = text(message);
  let kind = kinds[String(type)];
  if (kind === 'invalid_request') {
    kind = told.find(([pattern]) => pattern.test(words ?? ''))?.[1] ?? kind;
  }
  return { message: words, kind };
}
