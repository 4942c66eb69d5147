import type { HostIdentity, Identity, IdentityRequest } from '@questline/core/ports';
import { getHeader } from './header.ts';

/** A user of better-auth. */
interface BetterAuthUser {
  readonly id: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly name: string;
}

/** The part of a better-auth instance that identifies callers: `betterAuth({ ... })` has it. */
export interface BetterAuth<Found> {
  readonly api: {
    getSession(input: {
      readonly headers: Headers;
      readonly query: { readonly disableCookieCache: true; readonly disableRefresh: true };
    }): Promise<Found | null>;
  };
}

export interface BetterAuthIdentityOptions<Found> {
  /** Adds roles, scopes, limits or another id to the identity of a session. Default: id, verified address and name. */
  readonly toIdentity?: (found: Found) => Partial<HostIdentity>;
}

/**
 * Identifies callers by their better-auth session. It passes the headers `cookie` and `authorization` to `getSession`,
 * which then reads the session from the database, not from the cookie cache, and does not renew it.
 * @example
 * createServices({ ...ports, identity: betterAuthIdentity(auth) }, settings);
 */
export function betterAuthIdentity<Found extends { readonly user: BetterAuthUser }>(
  auth: BetterAuth<Found>,
  { toIdentity }: BetterAuthIdentityOptions<NoInfer<Found>> = {},
): Identity {
  return {
    credential: (request) => JSON.stringify(getCredentials(request)),
    async identify(request) {
      const credentials = getCredentials(request);
      if (credentials.length === 0) return undefined;
      const headers = new Headers(credentials);
      const query = { disableCookieCache: true, disableRefresh: true } as const;
      const found = await auth.api.getSession({ headers, query });
      if (found === null) return undefined;
      const { id, email, emailVerified, name } = found.user;
      return { externalId: id, name, ...(emailVerified && { email }), ...toIdentity?.(found) };
    },
  };
}

function getCredentials(request: IdentityRequest): [name: string, value: string][] {
  return ['authorization', 'cookie'].flatMap((name) => {
    const value = getHeader(request, name);
    return value === undefined ? [] : [[name, value] as [string, string]];
  });
}
