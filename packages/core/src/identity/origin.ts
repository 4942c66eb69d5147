import { header } from '../contract/message.ts';
import type { IdentityRequest } from '../ports/identity.ts';

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Whether a request can change something. */
export function isUnsafe({ method }: IdentityRequest): boolean {
  return !SAFE.has(method);
}

/**
 * Whether a page of another site caused the request. Browsers attach cookies, and proxies their headers, to such
 * requests too; an `Authorization` header without a cookie is proof of intent. A request without `Sec-Fetch-Site` and
 * `Origin` is not from a browser.
 * @param allowed origins in addition to the host of the request.
 */
export function isCrossSite({ headers }: IdentityRequest, allowed: ReadonlySet<string>): boolean {
  if (headers.authorization !== undefined && headers.cookie === undefined) return false;
  const origin = header(headers, 'origin');
  if (origin !== undefined && allowed.has(origin)) return false;
  const site = header(headers, 'sec-fetch-site');
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  if (origin === undefined) return false;
  const own = header(headers, 'host') ?? header(headers, ':authority');
  return !URL.canParse(origin) || new URL(origin).host !== own?.toLowerCase();
}
