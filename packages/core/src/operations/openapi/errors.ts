import type { ErrorFamily } from '../../contract/operation.ts';
import type { Side } from './document.ts';
import { type JsonSchema, schemaRef } from './schemas.ts';

const message = { type: 'string', description: 'Human-readable. Never branch on it.' };
const requestId = { type: 'string', description: 'Equals the `X-Request-ID` header.' };
const errorCode = {
  type: 'string',
  description:
    'Present on errors that clients branch on, e.g. `insufficient_credits`, `spend_cap_exceeded`, ' +
    '`budget_exceeded`, `provider_not_configured`, `provider_rejected`, `request_timeout`. The set is open.',
};
const providerError = {
  type: 'object',
  description:
    "Of a failure of the model's provider: its HTTP status, its own code and the parameter it names, never its words. The " +
    'code `circuit_open`: the provider failed recently and was not called.',
  properties: {
    status: { type: 'integer', description: "The HTTP status of the provider's answer." },
    code: { type: 'string', description: "The provider's own error code, or `circuit_open`." },
    param: { type: 'string', description: 'The request parameter that the provider rejected.' },
    retryAfter: { type: 'integer', description: 'Seconds to wait before a retry.' },
  },
};
const name = {
  type: 'string',
  deprecated: true,
  'x-sunset': '2026-12-01',
  description: 'Internal and unstable; removed on 2026-12-01.',
};
const scopes = (description: string): JsonSchema => ({
  type: 'array',
  items: { type: 'string' },
  description,
});
const requiredScopes = scopes('The key needs one of these scopes.');
const alsoRequiredScopes = scopes('The key needs all of these scopes.');
const maxSize = { type: 'integer', description: 'Maximum body size in bytes.' };
const type = { type: 'string', const: 'error', description: 'Marks an error.' };

/** Returns the error bodies by component name. */
export function errorComponents(side: Side): Record<string, JsonSchema> {
  return side === 'public' ? publicErrors() : { ...applicationErrors(), ...pick(publicErrors()) };
}

/** Some operations of the application side answer errors in the public format. */
function pick({ ErrorResponse, ScopeForbiddenResponse, BodyTooLargeResponse }: Record<string, JsonSchema>) {
  return { ErrorResponse, ScopeForbiddenResponse, BodyTooLargeResponse } as Record<string, JsonSchema>;
}

function applicationErrors(): Record<string, JsonSchema> {
  const detail = object(
    {
      path: {
        type: 'string',
        description: 'The field, such as `messages.0.content`; empty: the whole body.',
      },
      message: { type: 'string', description: 'The problem with the field.' },
    },
    ['path', 'message'],
  );
  const error = {
    ...object(
      {
        code: {
          type: 'string',
          description:
            'A stable code to branch on, such as `VALIDATION_ERROR` or `NOT_FOUND`. The set is open.',
        },
        message,
        details: {
          anyOf: [{ type: 'array', items: detail }, { type: 'object' }],
          description:
            'One entry for each invalid field, or facts about the problem, such as attempts that remain.',
        },
      },
      ['code', 'message'],
    ),
    description: 'The problem.',
  };
  const timestamp = { type: 'string', format: 'date-time', description: 'The time of the answer.' };
  const envelope = { error, timestamp, request_id: requestId };
  const oauth = {
    error: {
      type: 'string',
      description: 'A code to branch on, such as `invalid_request` or `slow_down`. The set is open.',
    },
    error_description: message,
    request_id: requestId,
  };
  return {
    OAuthErrorResponse: object(oauth, ['error']),
    OAuthBodyTooLargeResponse: object({ ...oauth, maxSize }, ['error']),
    ApplicationErrorResponse: object({ ...envelope, providerError }, ['error', 'timestamp', 'request_id']),
    ApplicationBodyTooLargeResponse: object({ ...envelope, maxSize }, ['error', 'timestamp', 'request_id']),
  };
}

function publicErrors(): Record<string, JsonSchema> {
  const envelope = {
    error: message,
    request_id: requestId,
    errorCode,
    providerError,
    name,
  };
  const event = { type, message, request_id: requestId, errorCode, providerError };
  return {
    ErrorResponse: object(envelope, ['error']),
    ScopeForbiddenResponse: object(
      {
        error: message,
        request_id: requestId,
        name,
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

/** Returns the default component of an error response. */
export function errorSchema(family: ErrorFamily, status: number): JsonSchema {
  if (family === 'application')
    return schemaRef(status === 413 ? 'ApplicationBodyTooLargeResponse' : 'ApplicationErrorResponse');
  if (family === 'oauth')
    return schemaRef(status === 413 ? 'OAuthBodyTooLargeResponse' : 'OAuthErrorResponse');
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

/** Default description of each status. */
export const STATUS_TEXT: Readonly<Record<number, string>> = {
  400: 'Malformed JSON, invalid UTF-8, nested too deeply, or wrong content type.',
  401: 'Missing or invalid credential, or a provider key that the provider rejected (`provider_rejected`).',
  403: 'The API key lacks a scope.',
  404: "Unknown, deleted or another user's.",
  405: 'The path does not support this method.',
  409: 'Conflict: another request changed the resource.',
  413: 'The body is too large.',
  422: 'Invalid query or body, or insufficient credits (`errorCode`).',
  429: 'Rate limit exceeded.',
  500: 'Failed unexpectedly.',
  502: 'The model provider failed.',
  503: 'Temporarily unavailable.',
  504: 'The request timeout was exceeded.',
};
