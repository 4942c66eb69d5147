import { createHmac, timingSafeEqual } from 'node:crypto';
import type { HostIdentity, Identity, IdentityRequest } from '@questline/core/ports';
import { getHeader } from './header.ts';

export interface CookieSessionIdentityOptions {
  /** The name of the cookie, such as `connect.sid`. */
  readonly cookie: string;
  /** The secrets that sign the cookie: 16 characters or more each. The first one signs; all are accepted. */
  readonly secrets: readonly string[];
  /**
   * Finds the user of a session.
   * @param value the signed value: the session id of express-session, or the text of a signed cookie.
   * @returns undefined for an unknown or ended session.
   */
  readonly find: (value: string) => Promise<HostIdentity | null | undefined>;
}

const MIN_SECRET = 16;

/**
 * Identifies callers by a cookie signed with HMAC-SHA256, as express-session, cookie-parser and `@fastify/cookie` write
 * it. A cookie with another signature, and two cookies of the name that differ, are ignored.
 * @throws RangeError without a name or with a short secret.
 * @example
 * const find = async (id: string) => toIdentity(await sessions.get(id));
 * const identity = cookieSessionIdentity({ cookie: 'connect.sid', secrets: [secret], find });
 */
export function cookieSessionIdentity({ cookie, secrets, find }: CookieSessionIdentityOptions): Identity {
  if (cookie === '') throw new RangeError('cookie: expected the name of the cookie');
  if (secrets.length === 0 || secrets.some((secret) => secret.length < MIN_SECRET)) {
    throw new RangeError(`secrets: expected at least one, of ${MIN_SECRET} characters or more each`);
  }
  const read = (request: IdentityRequest): string | undefined => {
    const text = getCookie(request, cookie);
    return text === undefined ? undefined : unsign(text, secrets);
  };
  return {
    credential: read,
    async identify(request) {
      const value = read(request);
      return value === undefined ? undefined : find(value);
    },
  };
}

/** The format of the package cookie-signature, with or without the mark `s:` of Express. */
function unsign(text: string, secrets: readonly string[]): string | undefined {
  const at = text.lastIndexOf('.');
  if (at < 0) return undefined;
  const value = text.slice(text.startsWith('s:') ? 2 : 0, at);
  const given = Buffer.from(text.slice(at + 1));
  const isSigned = secrets.some((secret) => {
    const signature = createHmac('sha256', secret).update(value).digest('base64').replace(/=+$/, '');
    const wanted = Buffer.from(signature);
    return wanted.length === given.length && timingSafeEqual(wanted, given);
  });
  return isSigned ? value : undefined;
}

function getCookie(request: IdentityRequest, name: string): string | undefined {
  const pairs = (getHeader(request, 'cookie') ?? '').split(';').map((pair) => pair.trim());
  const values = new Set(
    pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1)),
  );
  const [value] = values;
  if (value === undefined || values.size > 1) return undefined;
  try {
    return decodeURIComponent(value.replace(/^"(.*)"$/, '$1'));
  } catch {
    return undefined;
  }
}
