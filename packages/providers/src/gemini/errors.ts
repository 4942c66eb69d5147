import type { ProviderErrorKind } from '@questline/core/ports';
import { firstLabel, record, text } from '../content/fields.ts';
import type { ErrorReading } from '../http/faults.ts';

const kinds: Readonly<Record<string, ProviderErrorKind>> = {
  UNAUTHENTICATED: 'rejected_key',
  PERMISSION_DENIED: 'rejected_key',
  RESOURCE_EXHAUSTED: 'overloaded',
  UNAVAILABLE: 'overloaded',
  DEADLINE_EXCEEDED: 'timeout',
  INVALID_ARGUMENT: 'invalid_request',
  NOT_FOUND: 'invalid_request',
  OUT_OF_RANGE: 'invalid_request',
  INTERNAL: 'failed',
  // The account or its location, not the request: e.g. an unsupported region.
  FAILED_PRECONDITION: 'failed',
};

/** Reads `{error: {code, message, status, details}}`, or a list of one. */
export function readGeminiError(body: unknown): ErrorReading {
  const { message, status, details } = record(record(Array.isArray(body) ? body[0] : body).error);
  const words = text(message);
  const notes = Array.isArray(details) ? details.map(record) : [];
  let kind = kinds[String(status)];
  // The API reports an invalid key as a bad request.
  if (notes.some((note) => note.reason === 'API_KEY_INVALID')) kind = 'rejected_key';
  else if (kind === 'invalid_request' && /token count.*exceeds|context (length|window)/i.test(words ?? '')) {
    kind = 'context_length';
  } else if (
    kind === 'invalid_request' &&
    /usage guidelines|responsible ai|safety (?:filter|polic)/i.test(words ?? '')
  ) {
    kind = 'content_blocked';
  }
  const violation = notes.flatMap(({ fieldViolations: list }) => (Array.isArray(list) ? list : []))[0];
  return {
    message: words,
    kind,
    retryAfterMs: retryDelay(notes),
    code: firstLabel(...notes.map(({ reason }) => reason), status),
    param: firstLabel(record(violation).field),
  };
}

/** The API puts the delay in the body, e.g. `"retryDelay": "37s"`. */
function retryDelay(notes: readonly Record<string, unknown>[]): number | undefined {
  for (const { retryDelay } of notes) {
    const seconds = typeof retryDelay === 'string' ? /^([\d.]+)s$/.exec(retryDelay)?.[1] : undefined;
    if (seconds !== undefined) return Math.ceil(Number(seconds) * 1000);
  }
  return undefined;
}
