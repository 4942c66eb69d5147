import type { ProviderErrorKind } from '@questline/core/ports';
import { firstLabel, record, text } from '../content/fields.ts';
import type { ErrorReading } from '../http/faults.ts';

const kinds: Readonly<Record<string, ProviderErrorKind>> = {
  authentication_error: 'rejected_key',
  permission_error: 'rejected_key',
  billing_error: 'rejected_key',
  rate_limit_error: 'overloaded',
  overloaded_error: 'overloaded',
  timeout_error: 'timeout',
  invalid_request_error: 'invalid_request',
  not_found_error: 'invalid_request',
  request_too_large: 'invalid_request',
  api_error: 'failed',
};

/** The API has one type for all bad requests; only the message distinguishes these. */
const byMessage: readonly (readonly [RegExp, ProviderErrorKind])[] = [
  [
    /prompt is too long|exceeds? (the )?context|context (window|length|limit)|too many tokens/i,
    'context_length',
  ],
  [/credit balance is too low/i, 'rejected_key'],
  [/content filter|usage polic/i, 'content_blocked'],
];

/** Reads `{type: 'error', error: {type, message}}`. */
export function readAnthropicError(body: unknown): ErrorReading {
  const { type, message } = record(record(body).error);
  const words = text(message);
  let kind = kinds[String(type)];
  if (type === 'invalid_request_error') {
    kind = byMessage.find(([pattern]) => pattern.test(words ?? ''))?.[1] ?? kind;
  }
  return { message: words, kind, code: firstLabel(type) };
}
