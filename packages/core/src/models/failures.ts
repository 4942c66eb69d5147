import { ApiError } from '../errors.ts';
import type { ErrorFamily } from '../operation.ts';
import { isProviderError, type ProviderError } from '../ports/models.ts';

/**
 * How a provider's failure looks to a caller: by its kind, in our words. The provider's own text stays with `cause`, for
 * operators. @see open points, 1.9
 */
export function providerFailure(error: unknown, family: ErrorFamily): ApiError {
  if (!isProviderError(error)) return failed(family, error);
  switch (error.kind) {
    case 'rejected_key':
      return new ApiError(401, 'The model provider refused the provider key in use.', {
        code: 'provider_rejected',
        cause: error,
      });
    case 'not_configured':
      return new ApiError(503, 'No key is configured for this model provider.', {
        code: 'provider_not_configured',
        cause: error,
      });
    case 'overloaded':
      return new ApiError(503, 'The model provider is overloaded. Try again shortly.', {
        code: 'provider_overloaded',
        headers: { 'Retry-After': String(retrySeconds(error)) },
        cause: error,
      });
    case 'timeout':
      return new ApiError(
        family === 'completions' ? 500 : 502,
        describe('the provider did not answer in time', family),
        {
          code: 'provider_timeout',
          cause: error,
        },
      );
    case 'context_length':
      return new ApiError(422, 'The conversation is longer than the model can read.', {
        code: 'context_length_exceeded',
        cause: error,
      });
    case 'invalid_request':
      return new ApiError(422, 'The model provider refused this request as invalid for the model.', {
        code: 'invalid_request',
        cause: error,
      });
    case 'content_blocked':
      return new ApiError(422, "The model provider's safety rules blocked this request.", {
        code: 'invalid_request',
        cause: error,
      });
    case 'failed':
      return failed(family, error);
  }
}

function failed(family: ErrorFamily, cause: unknown): ApiError {
  return new ApiError(family === 'completions' ? 500 : 502, describe('the provider failed', family), {
    code: 'provider_error',
    cause,
  });
}

function describe(what: string, family: ErrorFamily): string {
  return family === 'completions' ? `Model response error: ${what}` : `The model gave no answer: ${what}.`;
}

function retrySeconds(error: ProviderError): number {
  return Math.min(3600, Math.max(1, Math.ceil((error.retryAfterMs ?? 5000) / 1000)));
}
