import { APICallError, LoadAPIKeyError, UnsupportedFunctionalityError } from '@ai-sdk/provider';
import { isProviderError, type ProviderError } from '@questline/core/ports';
import { describe, expect, test } from 'vitest';
import { getAnswer, scripted, toFailure } from './scripted.ts';

async function failing(refuse: unknown): Promise<ProviderError> {
  const error = await toFailure(getAnswer(scripted({ refuse }).model));
  if (!isProviderError(error)) throw error;
  return error;
}

function answered(
  statusCode: number | undefined,
  more: Partial<ConstructorParameters<typeof APICallError>[0]> = {},
) {
  return new APICallError({
    message: 'no',
    url: 'https://vendor.example/v1?key=AIzaSECRETSECRETSECRET',
    requestBodyValues: { messages: ['the whole prompt'] },
    ...(statusCode !== undefined && { statusCode }),
    ...more,
  });
}

describe('vendor error responses', () => {
  test.each([
    [400, 'invalid_request'],
    [401, 'rejected_key'],
    [402, 'rejected_key'],
    [403, 'rejected_key'],
    [404, 'invalid_request'],
    [408, 'timeout'],
    [413, 'invalid_request'],
    [418, 'failed'],
    [422, 'invalid_request'],
    [429, 'overloaded'],
    [500, 'failed'],
    [502, 'failed'],
    [503, 'overloaded'],
    [504, 'timeout'],
    [529, 'overloaded'],
  ])('maps status %i to %s', async (status, kind) => {
    const error = await failing(answered(status));
    expect(error).toMatchObject({ kind, message: `bridge: answered ${status}: no` });
  });

  test.each([
    [429, { error: { code: 'insufficient_quota' } }, 'rejected_key'],
    [400, { error: { code: 'context_length_exceeded' } }, 'context_length'],
    [400, { error: { type: 'invalid_request_error', code: 'content_policy_violation' } }, 'content_blocked'],
    [400, { type: 'error', error: { type: 'invalid_request_error' } }, 'invalid_request'],
    [500, { error: { type: 'overloaded_error' } }, 'overloaded'],
    [429, { error: { status: 'RESOURCE_EXHAUSTED' } }, 'overloaded'],
  ])('maps status %i with the body %j to %s', async (status, body, kind) => {
    expect((await failing(answered(status, { data: body }))).kind).toBe(kind);
    expect((await failing(answered(status, { responseBody: JSON.stringify(body) }))).kind).toBe(kind);
  });

  test.each([
    'prompt is too long: 210000 tokens > 200000 maximum',
    "This model's maximum context length is 8192 tokens",
    'The input token count (70000) exceeds the maximum number of tokens allowed',
  ])('maps the message %s to a full context', async (message) => {
    const data = { error: { type: 'invalid_request_error' } };
    expect((await failing(answered(400, { message, data }))).kind).toBe('context_length');
    expect((await failing(answered(400, { message }))).kind).toBe('context_length');
    expect((await failing(answered(500, { message }))).kind).toBe('failed');
  });

  test('returns the retry delay', async () => {
    const wait = async (responseHeaders: Record<string, string>) =>
      (await failing(answered(429, { responseHeaders }))).retryAfterMs;
    expect(await wait({ 'retry-after': '7' })).toBe(7000);
    expect(await wait({ 'retry-after-ms': '250', 'retry-after': '7' })).toBe(250);
    const date = 'Sat, 21 Nov 2026 08:00:00 GMT';
    expect(await wait({ 'retry-after': 'Sat, 21 Nov 2026 08:00:30 GMT', date })).toBe(30_000);
    expect(await wait({ 'retry-after': 'soon' })).toBeUndefined();
    expect(await wait({})).toBeUndefined();
    expect(
      (await failing(answered(401, { responseHeaders: { 'retry-after': '7' } }))).retryAfterMs,
    ).toBeUndefined();
  });
});

describe('other bridge failures', () => {
  test.each([
    [new LoadAPIKeyError({ message: 'no key' }), 'not_configured'],
    [new UnsupportedFunctionalityError({ functionality: 'audio' }), 'invalid_request'],
    [answered(undefined, { cause: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }) }), 'failed'],
    [
      answered(undefined, { cause: Object.assign(new Error('x'), { code: 'UND_ERR_HEADERS_TIMEOUT' }) }),
      'timeout',
    ],
    [new DOMException('late', 'TimeoutError'), 'timeout'],
    [{ type: 'rate_limit_error', message: 'slow down' }, 'overloaded'],
    [{ statusCode: 529, message: 'busy' }, 'overloaded'],
    [{ type: 'error', error: { type: 'overloaded_error', message: 'busy' } }, 'overloaded'],
    [{ code: 1n }, 'failed'],
    ['just text', 'failed'],
    [undefined, 'failed'],
    [null, 'failed'],
    [{}, 'failed'],
  ])('maps %s to %s', async (thrown, kind) => {
    expect((await failing(thrown)).kind).toBe(kind);
  });
});

describe('error messages of the bridge', () => {
  test.each([
    'Incorrect API key provided: sk-proj-SECRETSECRETSECRET.',
    'bad header Authorization: Bearer SECRETSECRETSECRET',
    'GET https://vendor.example/v1/models?alt=sse&key=SECRETSECRETSECRET failed',
    'key gsk_SECRETSECRETSECRET is disabled',
    'AIzaSECRETSECRETSECRETSECRET not valid',
  ])('redacts the key: %s', async (message) => {
    const error = await failing(answered(401, { message }));
    expect(error.message).not.toContain('SECRET');
    expect(error.message).toContain('[key]');
  });

  test('contains no other part of the request', async () => {
    const error = await failing(answered(400));
    const all = JSON.stringify(error, Object.getOwnPropertyNames(error));
    expect(all).not.toContain('the whole prompt');
    expect(all).not.toContain('SECRET');
    expect(error.cause).toBeUndefined();
  });

  test('keeps error messages short', async () => {
    expect((await failing(answered(400, { message: 'x'.repeat(10_000) }))).message.length).toBeLessThan(600);
  });
});
