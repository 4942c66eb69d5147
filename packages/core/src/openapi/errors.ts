import type { ErrorFamily } from '../operation.ts';
import { type JsonSchema, schemaRef } from './schemas.ts';

const message = { type: 'string', description: 'For people. Never branch on it.' };
const requestId = { type: 'string', description: 'Equals the `X-Request-ID` header.' };
const errorCode = {
  type: 'string',
  description:
    'Present on failures a client is expected to branch on, e.g. `insufficient_credits`, `spend_cap_exceeded`, ' +
    '`provider_not_configured`, `provider_rejected`, `request_timeout`. The set is open.',
};
const name = {
  type: 'string',
  deprecated: true,
  'x-sunset': '2026-12-01',
  description: 'Internal and unstable; leaves on 2026-12-01.',
};
const scopes = (description: string): JsonSchema => ({
  type: 'array',
  items: { type: 'string' },
  description,
});
const requiredScopes = scopes('Holding any one of these suffices.');
const alsoRequiredScopes = scopes('Every one of these must be held too.');
const maxSize = { type: 'integer', description: 'The largest body accepted, in bytes.' };
const type = { type: 'string', const: 'error' };

/**
 * The bodies of failures, by component name.
 * @param named whether the deprecated `name` is still sent.
 */
export function errorComponents(named: boolean): Record<string, JsonSchema> {
  const envelope = { error: message, request_id: requestId, errorCode, ...(named && { name }) };
  const event = { type, message, request_id: requestId, errorCode };
  return {
    ErrorResponse: object(envelope, ['error']),
    ScopeForbiddenResponse: object(
      {
        error: message,
        request_id: requestId,
        ...(named && { name }),
        required_scopes: requiredScopes,
        also_required_scopes: alsoRequiredScopes,
      },
      ['error'],
    ),
    BodyTooLargeResponse: object({ ...envelope, maxSize }, ['error']),
    CompletionErrorResponse: object(event, ['type', 'message']),
    CompletionScopeForbiddenResponse: object(
      { ...event, required_scopes: requiredScopes, also_required_scopes: alsoRequiredScopes },
      ['type', 'message'],
    ),
    CompletionBodyTooLargeResponse: object({ ...event, maxSize }, ['type', 'message']),
  };
}

function object(properties: JsonSchema, required: readonly string[]): JsonSchema {
  return { type: 'object', properties, required };
}

/** The component that describes a refusal, unless the operation names one of its own. */
export function errorSchema(family: ErrorFamily, status: number): JsonSchema {
  const prefix = family === 'completions' ? 'Completion' : '';
  switch (status) {
    case 403:
      return schemaRef(`${prefix}ScopeForbiddenResponse`);
    case 413:
      return schemaRef(`${prefix}BodyTooLargeResponse`);
    default:
      return schemaRef(`${prefix}ErrorResponse`);
  }
}

/** What a status means when the operation says no more. */
export const STATUS_TEXT: Readonly<Record<number, string>> = {
  400: 'Malformed JSON, not UTF-8, nested too deeply, or not sent as JSON.',
  401: 'No credential, one that is not accepted, or a provider key that its provider refused (`provider_rejected`).',
  403: 'The API key lacks a scope.',
  404: "Unknown, deleted or another user's.",
  405: 'The method is not declared here.',
  409: 'Changed by somebody else meanwhile.',
  413: 'The body is too large.',
  422: 'The query or body does not fit its schema, or the call cannot be paid for (`errorCode`).',
  429: 'A rate ceiling is reached.',
  500: 'Failed unexpectedly.',
  502: 'The model provider failed.',
  503: 'Temporarily unavailable.',
  504: 'Not finished within the request timeout.',
};
