import type { ProviderErrorKind } from '@questline/core/ports';
import { firstLabel, record, text } from '../content/fields.ts';
import type { ErrorReading } from '../http/faults.ts';

const kinds: Readonly<Record<string, ProviderErrorKind>> = {
  context_length_exceeded: 'context_length',
  content_policy_violation: 'content_blocked',
  content_filter: 'content_blocked',
  moderation_blocked: 'content_blocked',
  // The code of a prompt that violates the vendor's policy.
  invalid_prompt: 'content_blocked',
  invalid_api_key: 'rejected_key',
  // The key is valid, its account has no credit: another key helps, waiting does not.
  insufficient_quota: 'rejected_key',
  rate_limit_exceeded: 'overloaded',
  server_overloaded: 'overloaded',
  slow_down: 'overloaded',
  engine_overloaded: 'overloaded',
  // Perplexity's name for it.
  too_many_prompt_tokens: 'context_length',
  string_above_max_length: 'context_length',
  billing_hard_limit_reached: 'rejected_key',
  model_not_found: 'invalid_request',
  server_error: 'failed',
  authentication_error: 'rejected_key',
  rate_limit_error: 'overloaded',
  overloaded_error: 'overloaded',
};

/** Compatible servers report an exceeded context in various texts. */
const contextLength =
  /context (length|window|size)|maximum (prompt|context|model) length|prompt is too long|too many tokens|reduce the length of/i;

/** An account without credit, reported as a rate limit: another key helps, waiting does not. */
const emptyAccount =
  /used all available credits|exceeded your current quota|insufficient (balance|credits|funds)/i;

/** Reads `{error: {message, type, code, param}}`, and `{error: "message", code}`. */
export function readOpenAIError(body: unknown, status: number): ErrorReading {
  const outer = record(Array.isArray(body) ? body[0] : body);
  const inner = record(outer.error);
  const message = text(inner.message) ?? text(outer.error) ?? text(outer.message) ?? text(outer.detail);
  const code = firstLabel(inner.code, inner.type, outer.code, outer.type);
  const about = { message, code, param: firstLabel(inner.param, outer.param) };
  const kind =
    kinds[String(inner.code ?? outer.code)] ??
    kinds[String(inner.type ?? outer.type)] ??
    readWords(message, status);
  return { ...about, kind };
}

function readWords(message = '', status: number): ProviderErrorKind | undefined {
  if ([400, 413, 422, 0].includes(status) && contextLength.test(message)) return 'context_length';
  return status === 429 && emptyAccount.test(message) ? 'rejected_key' : undefined;
}
