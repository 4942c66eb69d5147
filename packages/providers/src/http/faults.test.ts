import { ProviderError } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { type ErrorReading, Faults } from './faults.ts';

const KEY = 'sk-secret';

function faults(reading: ErrorReading = {}, key = KEY): Faults {
  return new Faults('vendor', key, () => reading);
}

const refuse = (
  status: number,
  reading: ErrorReading = {},
  headers: Record<string, string> = {},
  text = '',
) => faults(reading).refusal({ status, headers, text });

describe('error of a provider', () => {
  it.each([
    [204, 'malformed_answer'],
    [302, 'malformed_answer'],
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
    [503, 'overloaded'],
    [504, 'timeout'],
    [529, 'overloaded'],
  ])('has a kind by its status %i, unless the body says another', (status, kind) => {
    expect(refuse(status)).toMatchObject({ kind, status });
    expect(refuse(status, { kind: 'content_blocked' })).toMatchObject({ kind: 'content_blocked', status });
  });

  it('says what the body says, or else its text, or where a redirect leads', () => {
    expect(refuse(400, { message: 'Oh' }, {}, '{}').message).toBe('vendor: answered 400: Oh');
    expect(refuse(400, {}, {}, 'a page').message).toBe('vendor: answered 400: a page');
    expect(refuse(302, { message: 'Oh' }, { location: '/login' }).message).toBe(
      'vendor: answered 302: a redirect to /login',
    );
    expect(refuse(399).message).toBe('vendor: answered 399: a redirect to nowhere');
    expect(refuse(200, { message: 'Oh' })).toMatchObject({
      kind: 'failed',
      message: 'vendor: answered 200: Oh',
    });
    expect(refuse(300).message).toBe('vendor: answered 300: a redirect to nowhere');
  });

  it('has the code and the parameter of the body', () => {
    expect(refuse(400, { code: 'bad', param: 'model' })).toMatchObject({ code: 'bad', param: 'model' });
  });

  it.each<[Record<string, string>, number | undefined]>([
    [{ 'retry-after-ms': '0' }, 0],
    [{ 'retry-after-ms': '125', 'retry-after': '9' }, 125],
    [{ 'retry-after-ms': '-1', 'retry-after': '9' }, 9000],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': '0', date: 'never' }, 0],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after': '1.0001' }, 1001],
    [{ 'retry-after': 'Wed, 21 Oct 2026 07:28:30 GMT', date: 'Wed, 21 Oct 2026 07:28:00 GMT' }, 30_000],
    [{ 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT', date: 'Wed, 21 Oct 2026 07:28:30 GMT' }, 0],
    [{ 'retry-after': 'Wed, 21 Oct 2026 07:28:30 GMT', date: 'never' }, undefined],
    [{ 'retry-after': 'soon', date: 'Wed, 21 Oct 2026 07:28:00 GMT' }, undefined],
    [{}, undefined],
  ])('has the delay of its headers if it is an overload: %j', (headers, delay) => {
    expect(refuse(429, {}, headers).retryAfterMs).toBe(delay);
    expect(refuse(400, {}, headers).retryAfterMs).toBeUndefined();
    expect(refuse(429, { retryAfterMs: 7 }, headers).retryAfterMs).toBe(7);
  });

  it('of an event has the kind, the code and the delay of the event, or its text', () => {
    const about = {
      kind: 'overloaded',
      message: 'Slow',
      code: 'busy',
      param: 'model',
      retryAfterMs: 5,
    } as const;
    expect(faults(about).event({})).toMatchObject({ ...about, message: 'vendor: broke off: Slow' });
    expect(faults().event({ a: 1 })).toMatchObject({ kind: 'failed', message: 'vendor: broke off: {"a":1}' });
  });

  it.each<[unknown, object]>([
    [
      new SyntaxError('bad'),
      { kind: 'malformed_answer', message: 'vendor: sent an event that is not JSON: bad' },
    ],
    [new TypeError('bad'), { kind: 'malformed_answer', message: 'vendor: bad' }],
    [Object.assign(new TypeError('bad'), { code: 'X' }), { kind: 'failed', message: 'vendor: bad (X)' }],
    [new Error('bad'), { kind: 'failed', message: 'vendor: bad' }],
    ['bad', { kind: 'failed', message: 'vendor: bad' }],
    ...['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT'].map(
      (code): [unknown, object] => [
        Object.assign(new Error('late'), { code }),
        { kind: 'timeout', message: `vendor: late (${code})` },
      ],
    ),
  ])('is made of what was thrown: %s', (thrown, expected) => {
    expect(faults().other(thrown)).toMatchObject(expected);
  });

  it('keeps the facts of an error of a provider, with its name once', () => {
    const about = { status: 429, code: 'busy', param: 'model', retryAfterMs: 5 };
    const error = faults().other(new ProviderError('overloaded', 'vendor: slow', about));
    expect(error).toMatchObject({ kind: 'overloaded', message: 'vendor: slow', ...about });
  });

  it('has no key in its texts and labels, also where the text is cut', () => {
    const text = `${'x'.repeat(465)} ${KEY} ${'y'.repeat(100)}`;
    const { message, code, param } = refuse(400, { message: text, code: `a_${KEY}`, param: KEY });
    expect(message).toContain('[key]');
    expect(message).not.toContain('sk-');
    expect(message).toHaveLength(503);
    expect(message.endsWith('...')).toBe(true);
    expect([code, param]).toEqual([undefined, undefined]);
  });

  it('is not changed by an empty key, and not cut at 500 characters', () => {
    const fitting = 'x'.repeat(500 - 'vendor: '.length);
    const error = faults({}, '').other(new ProviderError('failed', fitting, { code: 'busy' }));
    expect(error).toMatchObject({ message: `vendor: ${fitting}`, code: 'busy' });
  });

  it('of a silent provider says how long it waited', () => {
    expect(faults().timeout(30)).toMatchObject({
      kind: 'timeout',
      message: 'vendor: sent nothing for 30 ms',
    });
  });
});
