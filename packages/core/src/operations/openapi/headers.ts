import type { JsonSchema } from './schemas.ts';

const PARTS = {
  Limit: 'Maximum requests in',
  Remaining: 'Remaining requests in',
  Reset: 'End, in epoch seconds, of',
} as const;

function windowHeaders(suffix: string, window: string): [string, JsonSchema][] {
  return Object.entries(PARTS).map(([part, means]) => [
    `X-RateLimit-${part}${suffix}`,
    { description: `${means} ${window}.`, schema: { type: 'integer', minimum: 0 } },
  ]);
}

const KEY_HEADERS = [
  ...windowHeaders('-Minute', "the API key's minute"),
  ...windowHeaders('-Day', "the API key's day"),
];
const USER_HEADERS = windowHeaders('', "the signed-in user's window");

/** On every response to an API key that passed the scope check. */
export const KEY_HEADER_NAMES = KEY_HEADERS.map(([name]) => name);
/** On responses to signed-in users, for rate-limited operations. */
export const USER_HEADER_NAMES = USER_HEADERS.map(([name]) => name);

/** All response headers other than standard HTTP headers, as components. */
export const HEADERS: Readonly<Record<string, JsonSchema>> = {
  'X-Request-ID': {
    description: 'The sanitized correlation id of the request, or a new one.',
    required: true,
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' },
  },
  ...Object.fromEntries(KEY_HEADERS),
  ...Object.fromEntries(USER_HEADERS),
  'Retry-After': {
    description: 'Seconds to wait before a retry.',
    schema: { type: 'integer', minimum: 1 },
  },
  Allow: {
    description: 'The supported methods of the path.',
    required: true,
    schema: { type: 'string' },
  },
  'WWW-Authenticate': {
    description: 'Absent if the model provider rejected its key.',
    schema: { type: 'string', const: 'Bearer' },
  },
};

/** Request headers that operations share. */
export const PARAMETERS: Readonly<Record<string, JsonSchema>> = {
  RequestId: {
    name: 'X-Request-ID',
    in: 'header',
    description: 'Your correlation id. Letters, digits, `.`, `_` and `-` are kept, up to 128 characters.',
    schema: { type: 'string' },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'A repeated key and body within 24 hours return the original job, charged once.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]+$' },
  },
};

/** Returns the headers of a response, as references to components. */
export function headerRefs(names: readonly string[]): Record<string, { readonly $ref: string }> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
