import type { ProviderErrorKind } from '@questline/core/ports';
import { firstLabel, record, text } from '../content/fields.ts';
import type { ErrorReading } from '../http/faults.ts';

const kinds: Readonly<Record<string, ProviderErrorKind>> = {
  invalid_api_key: 'rejected_key',
  missing_permissions: 'rejected_key',
  // The key is valid, its account has no credit: another key helps, waiting does not.
  quota_exceeded: 'rejected_key',
  too_many_concurrent_requests: 'overloaded',
  concurrent_limit_exceeded: 'overloaded',
  rate_limit_exceeded: 'overloaded',
  system_busy: 'overloaded',
  bad_prompt: 'content_blocked',
  bad_composition_plan: 'content_blocked',
  content_moderated: 'content_blocked',
  max_character_limit_exceeded: 'invalid_request',
  voice_not_found: 'invalid_request',
  model_not_found: 'invalid_request',
};

/** Reads `{detail: {status, message}}`, `{detail: "message"}`, and `{detail: [{msg}]}` of a body that does not fit. */
export function readElevenLabsError(body: unknown, _status: number): ErrorReading {
  const { detail } = record(body);
  if (Array.isArray(detail)) {
    const { msg, type, loc } = record(detail[0]);
    const param = Array.isArray(loc) ? loc.join('.') : undefined;
    return { message: text(msg), code: firstLabel(type), param: firstLabel(param) };
  }
  const { status, code, message } = record(detail);
  return {
    message: text(message) ?? text(detail),
    kind: kinds[String(status)] ?? kinds[String(code)],
    code: firstLabel(status, code),
  };
}
