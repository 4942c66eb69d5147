import { describe, expect, test } from 'vitest';
import { providerError } from '../src/errors.ts';

/** An error of the SDK for an answer with this status and body. */
const answered = (statusCode: number | undefined, body: unknown, message = 'no') =>
  Object.assign(new Error(message), { statusCode, data: body });

const read = (error: unknown, secrets: readonly string[] = []) => providerError(error, 'bridge', secrets);

describe('kind of an error of a vendor', () => {
  test.each([
    // The name of the body is more specific than the status, also in capitals and in any place.
    [500, { error: { code: 'CONTENT_FILTER' } }, 'content_blocked'],
    [500, { error: { status: 'DEADLINE_EXCEEDED' } }, 'timeout'],
    [500, { code: 'model_not_found' }, 'invalid_request'],
    [500, { detail: { status: 'quota_exceeded' } }, 'rejected_key'],
    [500, [{ error: { type: 'overloaded_error' } }], 'overloaded'],
    [500, { error: { code: 'api_error', details: [{ reason: 'API_KEY_INVALID' }] } }, 'rejected_key'],
    [400, { error: { status: 'FAILED_PRECONDITION' } }, 'failed'],
    // The name of the first place counts.
    [500, { error: { code: 'content_filter', type: 'rate_limit_error' } }, 'content_blocked'],
    // A general name is less specific than the status, and than another name.
    [429, { error: { type: 'invalid_request_error' } }, 'overloaded'],
    [429, { error: { type: 'api_error', code: 'insufficient_quota' } }, 'rejected_key'],
    [200, { error: { type: 'invalid_request_error' } }, 'invalid_request'],
    [200, { error: { type: 'server_error' } }, 'failed'],
    [200, {}, 'failed'],
    [undefined, { error: { type: 'invalid_argument' } }, 'invalid_request'],
    [undefined, {}, 'failed'],
  ])('with status %s and the body %j is %s', (status, body, kind) => {
    expect(read(answered(status, body)).kind).toBe(kind);
  });

  test.each([
    // The message decides where neither the status nor a name does.
    [400, undefined, 'prompt is too long', 'context_length'],
    [413, undefined, 'prompt is too long', 'context_length'],
    [422, undefined, 'prompt is too long', 'context_length'],
    [403, undefined, 'prompt is too long', 'rejected_key'],
    [403, undefined, 'It violates our usage guidelines', 'content_blocked'],
    [403, 'permission_denied', 'It violates our usage guidelines', 'content_blocked'],
    [404, undefined, 'prompt is too long', 'invalid_request'],
    [413, 'request_too_large', 'prompt is too long', 'invalid_request'],
    [400, 'not_found_error', 'invalid api key', 'rejected_key'],
    [400, 'overloaded_error', 'invalid api key', 'overloaded'],
    [undefined, undefined, 'prompt is too long', 'context_length'],
    [undefined, 'api_error', 'prompt is too long', 'context_length'],
    [undefined, 'overloaded_error', 'prompt is too long', 'overloaded'],
    [undefined, 'not_found_error', 'prompt is too long', 'invalid_request'],
    [429, 'rate_limit_error', 'You exceeded your current quota', 'rejected_key'],
    [400, undefined, 'You exceeded your current quota', 'invalid_request'],
  ])('with status %s, the name %s and the message %j is %s', (status, type, message, kind) => {
    const error = type === undefined ? {} : { type };
    expect(read(answered(status, { error }, message)).kind).toBe(kind);
    expect(read(answered(status, { error: { ...error, message } })).kind).toBe(kind);
  });

  test('is read from the message where a name without a status is general', () => {
    const error = { type: 'not_found_error', code: 'api_error' };
    expect(read(answered(undefined, { error }, 'prompt is too long')).kind).toBe('context_length');
  });

  test.each([
    [{ error: 'prompt is too long' }],
    [{ message: 'prompt is too long' }],
    [{ detail: 'prompt is too long' }],
    [{ error: { message: '' }, message: 'prompt is too long' }],
  ])('is read from the words of the body %j', (body) => {
    expect(read(answered(400, body)).kind).toBe('context_length');
    expect(read({ statusCode: 400, message: 'no', responseBody: JSON.stringify(body) }).kind).toBe(
      'context_length',
    );
  });

  test.each([
    [{ name: 'AI_JSONParseError' }, 'malformed_answer'],
    [{ cause: { name: 'AI_TypeValidationError' } }, 'malformed_answer'],
    [{ cause: { code: 'UND_ERR_BODY_TIMEOUT' } }, 'timeout'],
    [{ cause: { cause: { cause: { code: 'ETIMEDOUT' } } } }, 'timeout'],
    [{ cause: { cause: { cause: { cause: { code: 'ETIMEDOUT' } } } } }, 'failed'],
    [{ cause: 'ETIMEDOUT' }, 'failed'],
    [{ name: 'AI_JSONParseError', cause: { code: 'ETIMEDOUT' } }, 'malformed_answer'],
  ])('of %j is %s', (fields, kind) => {
    expect(read({ message: 'no', ...fields }).kind).toBe(kind);
  });
});

describe('code and parameter of an error of a vendor', () => {
  test.each([
    [
      { error: { code: 'a_b', status: 'S', type: 't', param: 'messages[0].content' } },
      'a_b',
      'messages[0].content',
    ],
    [{ error: { status: 'S', type: 't' }, code: 'outer' }, 'S', undefined],
    [{ code: 'outer', param: 'p-q' }, 'outer', 'p-q'],
    [{ detail: { code: 'inner' } }, 'inner', undefined],
    [{ type: 'error', error: { type: 'own_error' } }, 'own_error', undefined],
    [{ error: { code: 400, status: true, type: 'two words' } }, undefined, undefined],
    [{ error: { code: 'two words', type: 'own_error' } }, 'own_error', undefined],
    [{ error: { code: 'x'.repeat(80) } }, 'x'.repeat(80), undefined],
    [{ error: { code: 'x'.repeat(81) } }, undefined, undefined],
    [
      {
        error: {
          status: 'INVALID_ARGUMENT',
          details: [{ reason: 'BAD' }, { fieldViolations: [{ field: 'contents' }, { field: 'other' }] }],
        },
      },
      'BAD',
      'contents',
    ],
    [{ error: { details: 'none' } }, undefined, undefined],
    [{ error: { details: [{ fieldViolations: 'none' }, null] } }, undefined, undefined],
    [{ detail: [{ loc: ['body', 'text'] }] }, undefined, 'body.text'],
    [{ detail: [{ loc: 'text' }] }, undefined, undefined],
    [{ detail: [] }, undefined, undefined],
  ])('of the body %j are %s and %s', (body, code, param) => {
    const error = read(answered(400, body));
    expect([error.code, error.param, error.status]).toEqual([code, param, 400]);
  });

  test('are those of an error without an answer, too, but never a secret', () => {
    expect(read({ code: 'ECONNRESET', message: 'no' }).code).toBe('ECONNRESET');
    expect(read({ type: 'error', message: 'no' }).code).toBeUndefined();
    expect(read({ type: 'error', status: 'gone_away', message: 'no' }).code).toBe('gone_away');
    expect(read({ statusCode: 400, code: 'own_code', data: {}, message: 'no' }).code).toBeUndefined();
    const body = { error: { code: 'k1_x', type: 'other_type', param: 'my.k1' } };
    expect(read(answered(400, body), ['', 'k1'])).toMatchObject({ code: 'other_type', param: undefined });
    expect(read(answered(400, body), ['', 'k2'])).toMatchObject({ code: 'k1_x', param: 'my.k1' });
  });
});

describe('delay of an overloaded vendor', () => {
  const noted = (...details: unknown[]) => answered(429, { error: { details } });
  const headed = (responseHeaders: unknown) => Object.assign(answered(429, {}), { responseHeaders });

  test.each([
    [noted({ retryDelay: '37s' }), 37_000],
    [noted({ retryDelay: '0.0001s' }), 1],
    [noted({}, { retryDelay: 7 }, { retryDelay: 'soon' }, { retryDelay: '2s' }, { retryDelay: '3s' }), 2000],
    [noted({ retryDelay: '1.2.3s' }), undefined],
    [noted({ retryDelay: '37s later' }), undefined],
    [headed({ 'retry-after': '0' }), 0],
    [headed({ 'retry-after': '0.0001' }), 1],
    [headed({ 'retry-after-ms': '0', 'retry-after': '7' }), 0],
    [headed({ 'retry-after-ms': '-1', 'retry-after': '7' }), 7000],
    [headed({ 'retry-after-ms': '', 'retry-after': '7' }), 7000],
    [headed({ 'retry-after': 'Sat, 21 Nov 2026 08:00:00 GMT', date: 'Sat, 21 Nov 2026 08:00:09 GMT' }), 0],
    [headed({ 'retry-after': 'Sat, 21 Nov 2026 08:00:00 GMT' }), undefined],
    [headed('none'), undefined],
  ])('of %o is %s', (error, delay) => {
    expect(read(error)).toMatchObject({ kind: 'overloaded', retryAfterMs: delay });
  });

  test('of the body counts before that of the headers', () => {
    const both = Object.assign(noted({ retryDelay: '2s' }), { responseHeaders: { 'retry-after': '7' } });
    expect(read(both).retryAfterMs).toBe(2000);
  });
});

describe('text of an error of a vendor', () => {
  test.each([
    ['just text', 'just text'],
    [{ message: 'said' }, 'said'],
    [{ message: '', error: { message: 'inner' } }, 'inner'],
    [{ a: 1 }, '{"a":1}'],
    [undefined, 'unknown'],
    [{ big: 1n }, 'unknown'],
  ])('of %o is %j', (error, message) => {
    expect(read(error).message).toBe(`bridge: ${message}`);
  });

  test('has at most 500 characters, without a secret at the cut', () => {
    expect(read('x'.repeat(500)).message).toBe(`bridge: ${'x'.repeat(500)}`);
    expect(read('x'.repeat(501)).message).toBe(`bridge: ${'x'.repeat(500)}...`);
    expect(read(`${'x'.repeat(497)}secret`, ['', 'secret']).message).toBe(`bridge: ${'x'.repeat(497)}[ke...`);
  });

  test('is that of an error of a provider, unchanged', () => {
    const error = read('first');
    expect(providerError(error, 'other')).toBe(error);
  });
});
