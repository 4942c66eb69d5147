import { ApiError } from '@questline/core';
import { header, type PipelineServices } from '@questline/core/internal';

type Authenticator = PipelineServices['authenticator'];

const SCHEME = /^bearer +(\S+) *$/i;

/**
 * Refuses requests with two different credentials: the vendor's clients send `x-api-key` and `Authorization` together when
 * both are configured, and the call would be paid by whichever is read first.
 */
export function withOneCredential(authenticator: Authenticator): Authenticator {
  return {
    ...authenticator,
    authenticate(headers, ...rest) {
      const key = header(headers, 'x-api-key');
      const [, bearer] = SCHEME.exec(header(headers, 'authorization') ?? '') ?? [];
      if (key && bearer !== undefined && bearer !== key) {
        throw new ApiError(
          401,
          'The request has two different credentials, in x-api-key and in Authorization. Send only one: unset ' +
            'ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN, or sign out of the other account.',
        );
      }
      return authenticator.authenticate(headers, ...rest);
    },
  };
}
