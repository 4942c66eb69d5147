import { describe, expect, it } from 'vitest';
import { errorComponents, errorSchema, STATUS_TEXT } from './errors.ts';

const described = { description: expect.stringMatching(/\S/) };
const text = { type: 'string', ...described };
const integer = { type: 'integer', ...described };
const name = { ...text, deprecated: true, 'x-sunset': '2026-12-01' };
const scopes = { type: 'array', items: { type: 'string' }, ...described };
const providerError = {
  type: 'object',
  ...described,
  properties: { status: integer, code: text, param: text, retryAfter: integer },
};
const detail = {
  type: 'object',
  properties: { path: text, message: text },
  required: ['path', 'message'],
};
const problem = {
  type: 'object',
  ...described,
  properties: {
    code: text,
    message: text,
    details: { anyOf: [{ type: 'array', items: detail }, { type: 'object' }], ...described },
  },
  required: ['code', 'message'],
};
const object = (properties: object, required: readonly string[]) => ({
  type: 'object',
  properties,
  required,
});

const plain = { error: text, request_id: text };
const ofScopes = { required_scopes: scopes, also_required_scopes: scopes };
const common = { ...plain, errorCode: text, providerError, name };
const PUBLIC = {
  ErrorResponse: object(common, ['error']),
  ScopeForbiddenResponse: object({ ...plain, name, ...ofScopes }, ['error']),
  BodyTooLargeResponse: object({ ...common, maxSize: integer }, ['error']),
};
const event = {
  type: { type: 'string', const: 'error', ...described },
  message: text,
  request_id: text,
  errorCode: text,
  providerError,
};

describe('the error bodies of the description', () => {
  it('are flat on the public side, and events for completions', () => {
    const required = ['type', 'message'];
    expect(errorComponents('public')).toStrictEqual({
      ...PUBLIC,
      CompletionErrorResponse: object(event, required),
      CompletionScopeForbiddenResponse: object({ ...event, ...ofScopes }, required),
      CompletionBodyTooLargeResponse: object({ ...event, maxSize: integer }, required),
    });
  });

  it('are envelopes on the application side, beside the flat ones and those of OAuth', () => {
    const timestamp = { ...text, format: 'date-time' };
    const envelope = { error: problem, timestamp, request_id: text };
    const oauth = { error: text, error_description: text, request_id: text };
    const required = ['error', 'timestamp', 'request_id'];
    expect(errorComponents('application')).toStrictEqual({
      ...PUBLIC,
      OAuthErrorResponse: object(oauth, ['error']),
      OAuthBodyTooLargeResponse: object({ ...oauth, maxSize: integer }, ['error']),
      ApplicationErrorResponse: object({ ...envelope, providerError }, required),
      ApplicationBodyTooLargeResponse: object({ ...envelope, maxSize: integer }, required),
    });
  });

  it.each([
    ['public', 400, 'ErrorResponse'],
    ['public', 403, 'ScopeForbiddenResponse'],
    ['public', 413, 'BodyTooLargeResponse'],
    ['completions', 500, 'CompletionErrorResponse'],
    ['completions', 403, 'CompletionScopeForbiddenResponse'],
    ['completions', 413, 'CompletionBodyTooLargeResponse'],
    ['application', 403, 'ApplicationErrorResponse'],
    ['application', 413, 'ApplicationBodyTooLargeResponse'],
    ['oauth', 403, 'OAuthErrorResponse'],
    ['oauth', 413, 'OAuthBodyTooLargeResponse'],
  ] as const)('of the family %s with status %d: %s', (family, status, component) => {
    expect(errorSchema(family, status)).toEqual({ $ref: `#/components/schemas/${component}` });
    const side = family === 'public' || family === 'completions' ? 'public' : 'application';
    expect(errorComponents(side)).toHaveProperty(component);
  });

  it('have a text for each status', () => {
    const statuses = [400, 401, 403, 404, 405, 409, 413, 422, 429, 500, 502, 503, 504];
    expect(Object.keys(STATUS_TEXT).map(Number)).toEqual(statuses);
    expect(Object.values(STATUS_TEXT)).toEqual(statuses.map(() => expect.stringMatching(/\S/)));
  });
});
