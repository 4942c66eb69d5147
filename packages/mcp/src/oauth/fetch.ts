import { type FetchLike, OAuthError, RegistrationRejectedError } from '@modelcontextprotocol/client';
import type { AuthorizedServer } from './options.ts';

const TIMEOUT_MS = 10_000;
const CODE = /^[a-z_]{1,50}$/;

/** The host has chosen the origin of the tool server; all other addresses come from others. */
export function createFetchFor(guarded: FetchLike): (server: AuthorizedServer) => FetchLike {
  return ({ url }) => {
    const { origin, protocol } = new URL(url);
    return async (target, init = {}) => {
      const named = new URL(target);
      if (named.origin !== origin) {
        // Secrets of this deployment would be sent without encryption.
        if (protocol === 'https:' && named.protocol !== 'https:') {
          throw new Error(`${named.origin} is not https, but the tool server is`);
        }
        return guarded(target, init);
      }
      return fetch(target, { ...init, signal: init.signal ?? AbortSignal.timeout(TIMEOUT_MS) });
    };
  };
}

/** Limits all requests together. */
export function withDeadline(fetchFn: FetchLike, limitMs: number): FetchLike {
  const deadline = AbortSignal.timeout(limitMs);
  return (target, init = {}) => {
    const { signal } = init;
    return fetchFn(target, { ...init, signal: signal ? AbortSignal.any([signal, deadline]) : deadline });
  };
}

/**
 * An error without text of an authorization server, which can repeat what it was sent, and without the beginning of an
 * answer that cannot be read.
 */
export function toSafeError(error: unknown): unknown {
  if (error instanceof OAuthError) {
    const code = CODE.test(error.code) ? error.code : 'unknown error';
    return new Error(`the authorization server refused: ${code}`);
  }
  if (error instanceof RegistrationRejectedError) {
    return new Error(`the authorization server refused the registration: status ${error.status}`);
  }
  const isUnreadable = error instanceof SyntaxError || (error instanceof Error && 'issues' in error);
  return isUnreadable ? new Error('the answer of the authorization server cannot be read') : error;
}
