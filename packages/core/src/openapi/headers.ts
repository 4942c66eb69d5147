import type { JsonSchema } from './schemas.ts';

const PARTS = {
  Limit: 'Requests allowed in',
  Remaining: 'Requests left in',
  Reset: 'When it ends, in epoch seconds:',
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

/** On every answer to an API key that passed the scope gate. */
export const KEY_HEADER_NAMES = KEY_HEADERS.map(([name]) => name);
/** On answers to a signed-in user whose calls of this kind are limited. */
export const USER_HEADER_NAMES = USER_HEADERS.map(([name]) => name);

/** Every header an answer may carry beyond those of HTTP itself, as components. */
export const HEADERS: Readonly<Record<string, JsonSchema>> = {
  'X-Request-ID': {
    description: 'The correlation id: the one that was sent, made safe, or a new one.',
    required: true,
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' },
  },
  ...Object.fromEntries(KEY_HEADERS),
  ...Object.fromEntries(USER_HEADERS),
  'Retry-After': {
    description: 'Seconds after which a new try makes sense.',
    schema: { type: 'integer', minimum: 1 },
  },
  Allow: {
    description: 'The methods that are declared here.',
    required: true,
    schema: { type: 'string' },
  },
  'WWW-Authenticate': {
    description: 'Absent when it is the model provider that refused its key.',
    schema: { type: 'string', const: 'Bearer' },
  },
};

/** A response's headers, as references to the components. */
export function headerRefs(names: readonly string[]): Record<string, { readonly $ref: string }> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
