import { describe, expect, it } from 'vitest';
import type { ErrorFamily } from '../contract/operation.ts';
import { ProviderError, type ProviderErrorKind } from '../ports/models.ts';
import { StorageUnavailable } from '../ports/store.ts';
import { ApiError } from '../shared/errors.ts';
import { callFailure, describeProviderError, providerFailure } from './failures.ts';

const FAMILIES: readonly ErrorFamily[] = ['completions', 'public', 'application'];
const FAILED = 'The model gave no answer: ';
const BROKEN = 'Model response error: ';

/** Status and code of each kind, and its message where all families have the same. */
const KINDS: readonly (readonly [ProviderErrorKind, number, string, string])[] = [
  ['rejected_key', 401, 'provider_rejected', 'The model provider refused the provider key in use.'],
  ['not_configured', 503, 'provider_not_configured', 'No key is configured for this model provider.'],
  ['overloaded', 503, 'provider_overloaded', 'The model provider is overloaded. Try again shortly.'],
  ['context_length', 422, 'context_length_exceeded', 'The conversation is longer than the model can read.'],
  [
    ...(['invalid_request', 422, 'invalid_request'] as const),
    'The model provider refused this request as invalid for the model.',
  ],
  [
    ...(['content_blocked', 422, 'invalid_request'] as const),
    "The model provider's safety rules blocked this request.",
  ],
];

/** These have the status of their family. */
const OF_FAMILY: readonly (readonly [ProviderErrorKind, string, string])[] = [
  ['timeout', 'provider_timeout', 'the provider did not answer in time'],
  ['malformed_answer', 'provider_error', "the provider's answer could not be read"],
  ['failed', 'provider_error', 'the provider failed'],
];

describe('failure of a provider', () => {
  it.each(KINDS)('of the kind %s has the status %i', (kind, status, code, message) => {
    for (const family of FAMILIES) {
      const error = new ProviderError(kind, 'the text of the provider');
      const found = providerFailure(error, family);
      expect(found).toMatchObject({ status, code, message, cause: error });
      expect(found.headers).toEqual(kind === 'overloaded' ? { 'Retry-After': '5' } : undefined);
    }
  });

  it.each(OF_FAMILY)('of the kind %s has the status of its family', (kind, code, what) => {
    const error = new ProviderError(kind, 'the text of the provider');
    for (const family of FAMILIES) {
      expect(providerFailure(error, family)).toMatchObject({
        ...(family === 'completions'
          ? { status: 500, message: `${BROKEN}${what}` }
          : { status: 502, message: `${FAILED}${what}.` }),
        ...{ code, cause: error },
      });
    }
  });

  it('that is no error of a provider says only that it failed', () => {
    const error = new Error('secret');
    expect(providerFailure(error, 'public')).toMatchObject({
      ...{ status: 502, code: 'provider_error', message: `${FAILED}the provider failed.`, cause: error },
    });
  });

  it('of an unknown kind is a failure like any other', () => {
    const error = new ProviderError('rate_limited' as ProviderErrorKind, 'secret');
    expect(providerFailure(error, 'public')).toMatchObject({
      ...{ status: 502, code: 'provider_error', message: `${FAILED}the provider failed.`, cause: error },
    });
  });

  it.each([
    [undefined, '5', undefined],
    [0, '1', 1],
    [1001, '2', 2],
    [3_600_000, '3600', 3600],
    [3_600_001, '3600', 3600],
  ])(
    'says when a retry of an overloaded provider is useful: after %s ms',
    (retryAfterMs, header, seconds) => {
      const options = retryAfterMs === undefined ? {} : { retryAfterMs };
      const error = new ProviderError('overloaded', 'x', options);
      expect(providerFailure(error, 'public').headers).toEqual({ 'Retry-After': header });
      expect(describeProviderError(error)).toEqual(
        seconds === undefined ? undefined : { retryAfter: seconds },
      );
      const failed = new ProviderError('failed', 'x', options);
      expect(describeProviderError(failed)).toBeUndefined();
    },
  );

  it.each([{ status: 418 }, { code: 'teapot' }, { param: 'messages' }])('shows the fact %j', (fact) => {
    const error = new ProviderError('failed', 'x', fact);
    expect(describeProviderError(error)).toEqual(fact);
    const about = { providerError: fact };
    expect(providerFailure(error, 'application')).toMatchObject({ details: about, extra: undefined });
    expect(providerFailure(error, 'public')).toMatchObject({ details: undefined, extra: about });
    expect(providerFailure(error, 'completions')).toMatchObject({ details: undefined, extra: about });
    expect(describeProviderError(new Error('x'))).toBeUndefined();
  });
});

describe('failure of a paid call', () => {
  it('is a refusal as it is, unavailable storage, or a failure of the provider', () => {
    const refusal = new ApiError(402, 'no credit');
    expect(callFailure(refusal, 'public')).toBe(refusal);
    expect(callFailure(new StorageUnavailable('away'), 'public')).toMatchObject({ status: 503 });
    expect(callFailure(new ProviderError('rejected_key', 'x'), 'public')).toMatchObject({ status: 401 });
  });
});
