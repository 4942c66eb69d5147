import { ApiError, type ApiErrorOptions } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { issue, openAIErrors, toWireError, unsupported, withoutRetry } from './errors.ts';
import { withRateHeaders } from './rate-headers.ts';
import { toResponseUsage } from './usage.ts';

describe('error of the OpenAI wire', () => {
  it.each([
    [400, 400, 'invalid_request_error', null],
    [401, 401, 'authentication_error', 'invalid_api_key'],
    [403, 403, 'permission_error', 'insufficient_permissions'],
    [404, 404, 'invalid_request_error', 'not_found'],
    [405, 405, 'invalid_request_error', 'method_not_allowed'],
    [409, 409, 'invalid_request_error', 'conflict'],
    [413, 413, 'invalid_request_error', 'request_too_large'],
    [422, 400, 'invalid_request_error', null],
    [429, 429, 'rate_limit_error', 'rate_limit_exceeded'],
    [499, 499, 'invalid_request_error', null],
    [500, 500, 'server_error', null],
    [503, 503, 'server_error', null],
  ])('of the status %i has a status, a type and a code', (status, sent, type, code) => {
    const error = openAIErrors(new ApiError(status, 'Oh'), 'req_1');
    expect(error).toMatchObject({
      status: sent,
      body: { error: { message: 'Oh', type, param: null, code } },
    });
  });

  it.each<[ApiErrorOptions, number, string | null]>([
    [{ code: 'provider_error' }, 502, 'provider_error'],
    [{ code: 'model_unavailable' }, 404, 'model_not_found'],
    [{ code: 'model_unavailable' }, 503, 'model_unavailable'],
    [{ code: 'unsupported_input' }, 400, 'unsupported_parameter'],
    [{ code: 'unsupported_input', extra: { code: 'own' } }, 400, 'own'],
    [{ extra: { code: 7 } }, 400, null],
  ])('has the code of %j with the status %i', (options, status, code) => {
    expect(toWireError(new ApiError(status, 'Oh', options)).code).toBe(code);
  });

  it('about used-up credit is no rate limit', () => {
    const error = new ApiError(402, 'Oh', { code: 'insufficient_credits' });
    expect(openAIErrors(error, 'req_1')).toEqual({
      status: 429,
      headers: { 'x-should-retry': 'false' },
      body: { error: { message: 'Oh', type: 'insufficient_quota', param: null, code: 'insufficient_quota' } },
    });
  });

  it.each([
    ['messages.0.content.12.text', 'messages[0].content[12].text'],
    ['tools.3', 'tools[3]'],
    ['metadata.1a', 'metadata.1a'],
    ['model', 'model'],
    ['', null],
  ])('names the field %s as the vendor does', (path, param) => {
    expect(toWireError(issue(path, 'is odd')).param).toBe(param);
  });

  it('says which field is odd, or not supported', () => {
    expect(issue('tools.3', 'is odd')).toMatchObject({ status: 400, message: 'tools[3]: is odd' });
    expect(unsupported('n', 'send one')).toMatchObject({
      status: 400,
      message: 'n: not supported: send one',
      code: 'unsupported_input',
      details: [{ path: 'n', message: 'not supported: send one' }],
    });
  });

  it.each<ApiErrorOptions>([{}, { details: [] }, { details: { a: 1 } }])(
    'names no field without details: %j',
    (options) => {
      expect(toWireError(new ApiError(400, 'Oh', options)).param).toBeNull();
    },
  );

  it('that must not be repeated says so, and is otherwise the same', () => {
    const cause = new Error('cause');
    const options: ApiErrorOptions = {
      code: 'provider_error',
      extra: { code: 'own' },
      details: [{ path: 'a', message: 'b' }],
      headers: { 'Retry-After': '3' },
      cause,
    };
    expect(withoutRetry(new ApiError(502, 'Oh', options))).toMatchObject({
      status: 502,
      message: 'Oh',
      ...options,
      headers: { 'Retry-After': '3', 'x-should-retry': 'false' },
    });
    expect(withoutRetry(cause)).toBe(cause);
  });
});

describe('rate headers of the OpenAI wire', () => {
  const send = (headers: Record<string, string>) =>
    withRateHeaders(
      { status: 200, headers, body: '' } as unknown as Parameters<typeof withRateHeaders>[0],
      5_000_500,
    ).headers;

  it.each([
    ['5010', '10s'],
    ['5000', '0s'],
    ['5001', '1s'],
  ])('have the limit, what remains, and the seconds until %s', (reset, expected) => {
    const ours = { 'X-RateLimit-Limit': '60', 'X-RateLimit-Remaining': '59', 'X-RateLimit-Reset': reset };
    const minute = Object.fromEntries(Object.entries(ours).map(([name, value]) => [`${name}-Minute`, value]));
    for (const headers of [ours, minute]) {
      const sent = send(headers);
      expect(sent).toEqual({
        ...headers,
        'x-ratelimit-limit-requests': '60',
        'x-ratelimit-remaining-requests': '59',
        'x-ratelimit-reset-requests': expected,
      });
    }
  });

  it('are absent without a window', () => {
    expect(send({ a: 'b' })).toEqual({ a: 'b' });
    const response = { status: 200, headers: { 'X-RateLimit-Limit': '60' }, body: 'a' };
    expect(withRateHeaders(response as unknown as Parameters<typeof withRateHeaders>[0], 0)).toMatchObject({
      status: 200,
      body: 'a',
    });
  });
});

describe('usage of a response', () => {
  it('has the cache in the input, and the reasoning in the output', () => {
    const usage = { input: 10, cachedInput: 30, cacheWrite: 5, output: 2, reasoning: 7 };
    expect(toResponseUsage({ cost: { usage, charged: 0 } })).toEqual({
      input_tokens: 45,
      input_tokens_details: { cached_tokens: 30, cache_write_tokens: 5 },
      output_tokens: 9,
      output_tokens_details: { reasoning_tokens: 7 },
      total_tokens: 54,
    });
  });
});
