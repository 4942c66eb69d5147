import { ApiError, type ApiResponse } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { withOneCredential } from './credentials.ts';
import { anthropicErrors, issue, unsupported } from './errors.ts';
import { withVendorHeaders } from './headers.ts';

describe('error of the Anthropic wire', () => {
  it.each<[number, object, number, string]>([
    [400, {}, 400, 'invalid_request_error'],
    [401, {}, 401, 'authentication_error'],
    [402, { code: 'insufficient_credits' }, 402, 'billing_error'],
    [403, {}, 403, 'permission_error'],
    [404, {}, 404, 'not_found_error'],
    [405, {}, 405, 'invalid_request_error'],
    [409, {}, 409, 'conflict_error'],
    [413, {}, 413, 'request_too_large'],
    [422, {}, 400, 'invalid_request_error'],
    [429, {}, 429, 'rate_limit_error'],
    [499, {}, 499, 'invalid_request_error'],
    [500, {}, 500, 'api_error'],
    [503, { code: 'provider_overloaded' }, 529, 'overloaded_error'],
    [503, {}, 503, 'api_error'],
    [504, {}, 504, 'timeout_error'],
    [401, { code: 'provider_rejected' }, 502, 'api_error'],
  ])('of the status %i with %j has a status and a type', (status, options, sent, type) => {
    const { status: answered, body } = anthropicErrors(new ApiError(status, 'Oh', options), 'req_1');
    expect(answered).toBe(sent);
    expect(body).toEqual({ type: 'error', error: { type, message: 'Oh' }, request_id: 'req_1' });
  });

  it('is not repeated by clients where that is no use', () => {
    const error = new ApiError(402, 'Oh', { code: 'insufficient_credits' });
    expect(anthropicErrors(error, 'req_1').headers).toEqual({ 'x-should-retry': 'false' });
    expect(anthropicErrors(new ApiError(400, 'Oh'), 'req_1').headers).toEqual({});
  });

  it('says which field is odd, or not supported', () => {
    expect(issue('tools.3', 'is odd')).toMatchObject({
      status: 400,
      message: 'tools.3: is odd',
      details: [{ path: 'tools.3', message: 'is odd' }],
    });
    expect(unsupported('tools', 'none')).toMatchObject({
      status: 400,
      message: 'tools: not supported: none',
      code: 'unsupported_input',
    });
  });
});

describe('headers of the Anthropic wire', () => {
  const send = (headers: Record<string, string>) =>
    withVendorHeaders({ status: 200, headers } as unknown as ApiResponse).headers;

  it('have the id of the request and the rate limits, beside ours', () => {
    const ours = {
      'X-Request-ID': 'r1',
      'X-RateLimit-Limit': '60',
      'X-RateLimit-Remaining': '59',
      'X-RateLimit-Reset': '1700000000',
    };
    expect(send(ours)).toEqual({
      ...ours,
      'request-id': 'r1',
      'anthropic-ratelimit-requests-limit': '60',
      'anthropic-ratelimit-requests-remaining': '59',
      'anthropic-ratelimit-requests-reset': '2023-11-14T22:13:20.000Z',
    });
    expect(send({ a: 'b' })).toEqual({ a: 'b' });
  });
});

describe('credentials of the Anthropic wire', () => {
  type Authenticator = Parameters<typeof withOneCredential>[0];
  const { authenticate } = withOneCredential({
    authenticate: (headers: object) => headers,
  } as unknown as Authenticator);
  const read = (headers: Record<string, string>): unknown =>
    (authenticate as (headers: Record<string, string>) => unknown)(headers);

  it.each<Record<string, string>>([
    { 'x-api-key': 'a', authorization: 'Bearer b' },
    { 'x-api-key': 'a', authorization: 'bearer  b ' },
  ])('are refused if there are two: %j', (headers) => {
    expect(() => read(headers)).toThrow(expect.objectContaining({ status: 401 }));
  });

  it.each<Record<string, string>>([
    {},
    { 'x-api-key': 'a' },
    { authorization: 'Bearer b' },
    { 'x-api-key': 'a', authorization: 'Bearer a' },
    { 'x-api-key': '', authorization: 'Bearer b' },
    { 'x-api-key': 'a', authorization: 'Basic b' },
    { 'x-api-key': 'a', authorization: 'Bearer ' },
  ])('are passed on if there is one: %j', (headers) => {
    expect(read(headers)).toBe(headers);
  });
});
