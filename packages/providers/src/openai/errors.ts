import type { ProviderErrorKind } from '@questline/core';
import { record, text } from '../content/fields.ts';
import type { ErrorReading } from '../http/faults.ts';

const kinds: Readonly<Record<string, ProviderErrorKind>> = {
  context_length_exceeded: 'context_length',
  content_policy_violation: 'content_blocked',
  content_filter: 'content_blocked',
  moderation_blocked: 'content_blocked',
  // Their name for a prompt that their policy refuses.
  invalid_prompt: 'content_blocked',
  invalid_api_key: 'rejected_key',
  // The key is good, its account is empty: waiting does not help, another key does.
  insufficient_quota: 'rejected_key',
  rate_limit_exceeded: 'overloaded',
  server_overloaded: 'overloaded',
  slow_down: 'overloaded',
  engine_overloaded: 'overloaded',
  authentication_error: 'rejected_key',
  rate_limit_error: 'overloaded',
  overloaded_error: 'overloaded',
};

/** Servers that speak this protocol name a full context in their own words. */
const contextLength =
  /context (length|window|size)|maximum (prompt|context|model) length|prompt is too long|too many tokens|reduce the length of/i;

/** Reads `{error: {message, type, code}}`, and `{error: "message", code}`. */
export function readOpenAIError(body: unknown, status: number): ErrorReading {
  const outer = record(body);
  const inner = record(outer.error);
  const message = text(inner.message) ?? text(outer.error) ?? text(outer.message) ?? text(outer.detail);
  const kind = kinds[String(inner.code ?? outer.code)] ?? kinds[String(inner.type ?? outer.type)];
  if (kind !== undefined) return { message, kind };
  if (
    (status === 400 || status === 413 || status === 422 || status === 0) &&
    contextLength.test(message ?? '')
  ) {
    return { message, kind: 'context_length' };
  }
  return { message };
}
