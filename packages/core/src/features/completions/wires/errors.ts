import { ApiError, isCreditCode } from '../../../shared/errors.ts';

/** Vendor SDKs retry 408, 409, 429 and 5xx unless this header forbids it. */
const NO_RETRY = { 'x-should-retry': 'false' };

/** Maximum Retry-After, in seconds, that vendor SDKs wait for. After a longer one they would retry too early. */
const MAX_WAIT_SECONDS = 60;

/**
 * Returns the status and the headers of an error on a wire that a vendor defines, so that its SDKs do not retry what cannot
 * succeed. Validation errors are 400. @param outOfCredit the vendor's status of used-up credit.
 */
export function toVendorStatus(
  { status, code, headers = {} }: ApiError,
  outOfCredit: 402 | 429,
): { readonly status: number; readonly headers: Readonly<Record<string, string>> } {
  if (isCreditCode(code)) return { status: outOfCredit, headers: NO_RETRY };
  // A 401 would be read as a bad key of the caller.
  if (code === 'provider_rejected') return { status: 502, headers: NO_RETRY };
  if (code === 'provider_not_configured' || code === 'idempotency_key_spent') {
    return { status, headers: NO_RETRY };
  }
  if (status === 429 && Number(headers['Retry-After'] ?? 0) > MAX_WAIT_SECONDS) {
    return { status, headers: NO_RETRY };
  }
  return { status: status === 422 ? 400 : status, headers: {} };
}

/** A 404 for a model. @param reason default: that it does not exist. */
export function unknownModel(id: string, reason?: string): ApiError {
  const message = reason ?? `The model '${id.slice(0, 100)}' does not exist or you have no access to it.`;
  return new ApiError(404, message, { code: 'model_unavailable', details: [{ path: 'model', message }] });
}
