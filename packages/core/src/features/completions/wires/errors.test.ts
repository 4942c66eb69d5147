import { describe, expect, it } from 'vitest';
import { ApiError, type ApiErrorOptions } from '../../../shared/errors.ts';
import { toVendorStatus, unknownModel } from './errors.ts';

const NO_RETRY = { 'x-should-retry': 'false' };
const after = (seconds: string) => ({ headers: { 'Retry-After': seconds } });

describe('status of an error for SDKs of a vendor', () => {
  it.each<readonly [string, number, ApiErrorOptions, number, Readonly<Record<string, string>>]>([
    ['used-up credit', 402, { code: 'insufficient_credits' }, 429, NO_RETRY],
    ['a refused key of the provider', 401, { code: 'provider_rejected' }, 502, NO_RETRY],
    ['a missing key of the provider', 503, { code: 'provider_not_configured' }, 503, NO_RETRY],
    ['a spent key', 409, { code: 'idempotency_key_spent' }, 409, NO_RETRY],
    ['another conflict', 409, {}, 409, {}],
    ['a long wait', 429, after('61'), 429, NO_RETRY],
    ['a short wait', 429, after('60'), 429, {}],
    ['no wait', 429, {}, 429, {}],
    ['a long wait for a service', 503, after('61'), 503, {}],
    ['an invalid request', 422, {}, 400, {}],
    ['a failure', 500, {}, 500, {}],
  ])('forbids repetitions that cannot succeed: %s', (_title, status, options, sent, headers) => {
    expect(toVendorStatus(new ApiError(status, 'x', options), 429)).toEqual({ status: sent, headers });
  });

  it('of used-up credit is that of the vendor', () => {
    const error = new ApiError(422, 'x', { code: 'insufficient_credits' });
    expect(toVendorStatus(error, 402)).toEqual({ status: 402, headers: NO_RETRY });
  });
});

describe('an unknown model', () => {
  it('is named up to 100 characters, in the message and for the field', () => {
    const message = `The model '${'m'.repeat(100)}' does not exist or you have no access to it.`;
    expect(unknownModel('m'.repeat(101))).toMatchObject({
      ...{ status: 404, code: 'model_unavailable', message },
      details: [{ path: 'model', message }],
    });
  });

  it('is refused for a reason', () => {
    const message = "'e' is not a chat model";
    expect(unknownModel('e', message)).toMatchObject({ message, details: [{ path: 'model', message }] });
  });
});
