import type { ErrorFamily } from '../contract/operation.ts';
import { isProviderError, ProviderError } from '../ports/models.ts';
import { isStorageUnavailable } from '../ports/store.ts';
import { ApiError, type ApiErrorOptions, isApiError, storageAway } from '../shared/errors.ts';

/** The facts about a provider failure that a client may see: codes and numbers, never the provider's message. */
export interface ProviderErrorDetails {
  /** HTTP status of the provider's response. */
  readonly status?: number;
  /** The provider's error code; `circuit_open` if the provider was not called. */
  readonly code?: string;
  /** The parameter that the provider rejected. */
  readonly param?: string;
  /** Seconds until a retry is useful, an integer. */
  readonly retryAfter?: number;
}

/**
 * Converts a provider failure for the client: a fixed message per kind, with the provider's code and parameter. The
 * provider's text stays in `cause`, for operators.
 */
export function providerFailure(error: unknown, family: ErrorFamily): ApiError {
  if (!isProviderError(error)) return failed(family, { cause: error });
  const about = describeFor(error, family);
  switch (error.kind) {
    case 'rejected_key':
      return new ApiError(401, 'The model provider refused the provider key in use.', {
        ...about,
        code: 'provider_rejected',
      });
    case 'not_configured':
      return new ApiError(503, 'No key is configured for this model provider.', {
        ...about,
        code: 'provider_not_configured',
      });
    case 'overloaded':
      return new ApiError(503, 'The model provider is overloaded. Try again shortly.', {
        ...about,
        code: 'provider_overloaded',
        headers: { 'Retry-After': String(retrySeconds(error) ?? DEFAULT_RETRY_SECONDS) },
      });
    case 'timeout':
      return new ApiError(
        family === 'completions' ? 500 : 502,
        describe('the provider did not answer in time', family),
        { ...about, code: 'provider_timeout' },
      );
    case 'context_length':
      return new ApiError(422, 'The conversation is longer than the model can read.', {
        ...about,
        code: 'context_length_exceeded',
      });
    case 'invalid_request':
      return new ApiError(422, 'The model provider refused this request as invalid for the model.', {
        ...about,
        code: 'invalid_request',
      });
    case 'content_blocked':
      return new ApiError(422, "The model provider's safety rules blocked this request.", {
        ...about,
        code: 'invalid_request',
      });
    case 'malformed_answer':
      return failed(family, about, "the provider's answer could not be read");
    // Providers of a host may not be type-checked.
    default:
      return failed(family, about);
  }
}

/** Converts the error of a paid call for the client: a refusal as it is, unavailable storage as 503, else as `providerFailure`. */
export function callFailure(error: unknown, family: ErrorFamily): ApiError {
  if (isApiError(error)) return error;
  return isStorageUnavailable(error) ? storageAway(error) : providerFailure(error, family);
}

/** The failure of a provider whose media result has no bytes. */
export function emptyResult(): ProviderError {
  return new ProviderError('malformed_answer', 'the result has no bytes');
}

/** @returns undefined if the provider reported no details. */
export function describeProviderError(error: unknown): ProviderErrorDetails | undefined {
  if (!isProviderError(error)) return undefined;
  const { status, code, param } = error;
  const retryAfter = retrySeconds(error);
  if (status === undefined && code === undefined && param === undefined && retryAfter === undefined) {
    return undefined;
  }
  return {
    ...(status !== undefined && { status }),
    ...(code !== undefined && { code }),
    ...(param !== undefined && { param }),
    ...(retryAfter !== undefined && { retryAfter }),
  };
}

/** Puts details into the field of the error family. */
function describeFor(cause: ProviderError, family: ErrorFamily): ApiErrorOptions {
  const providerError = describeProviderError(cause);
  if (providerError === undefined) return { cause };
  return family === 'application'
    ? { cause, details: { providerError } }
    : { cause, extra: { providerError } };
}

function failed(family: ErrorFamily, about: ApiErrorOptions, what = 'the provider failed'): ApiError {
  return new ApiError(family === 'completions' ? 500 : 502, describe(what, family), {
    ...about,
    code: 'provider_error',
  });
}

function describe(what: string, family: ErrorFamily): string {
  return family === 'completions' ? `Model response error: ${what}` : `The model gave no answer: ${what}.`;
}

const DEFAULT_RETRY_SECONDS = 5;
const MAX_RETRY_SECONDS = 3600;

function retrySeconds({ kind, retryAfterMs }: ProviderError): number | undefined {
  if (kind !== 'overloaded' || retryAfterMs === undefined) return undefined;
  return Math.min(MAX_RETRY_SECONDS, Math.max(1, Math.ceil(retryAfterMs / 1000)));
}
