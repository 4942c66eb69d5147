import { createHash, timingSafeEqual } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import type { HostIdentity, Identity, IdentityRequest } from '@questline/core/ports';
import { getHeader } from './header.ts';

/** How a request of the proxy is recognized. */
export type Trust =
  /** Addresses and CIDR ranges of the proxy, compared with the address of the connection. */
  | { readonly addresses: readonly string[] }
  /** A header that only the proxy can send, and its value of 16 characters or more. */
  | { readonly header: string; readonly secret: string };

export interface TrustedHeaderIdentityOptions {
  /** The header with the id of the user, such as `x-forwarded-user`. The proxy must replace it in every request. */
  readonly header: string;
  readonly trust: Trust;
  /** The header with the verified e-mail address. Default: none. */
  readonly emailHeader?: string;
  /** The header with the display name. Default: none. */
  readonly nameHeader?: string;
  /** Adds roles, scopes or limits, by the request of a trusted proxy. The answer is then cached for identical requests only. */
  readonly toIdentity?: (identity: HostIdentity, request: IdentityRequest) => HostIdentity;
}

const MIN_SECRET = 16;

/**
 * Identifies callers by a header that an authenticating proxy sets. The header of any other sender is ignored.
 * @throws RangeError for an unreadable address or a short secret.
 * @example
 * trustedHeaderIdentity({ header: 'x-forwarded-user', trust: { addresses: ['10.0.0.0/8'] } });
 */
export function trustedHeaderIdentity(options: TrustedHeaderIdentityOptions): Identity {
  const [header = '', emailHeader, nameHeader] = [
    options.header,
    options.emailHeader,
    options.nameHeader,
  ].map((name) => name?.toLowerCase());
  const { toIdentity } = options;
  if (header === '') throw new RangeError('header: expected the name of the header');
  const isTrusted = createTrustCheck(options.trust);

  const read = (request: IdentityRequest): HostIdentity | undefined => {
    const externalId = getHeader(request, header);
    if (externalId === undefined || !isTrusted(request)) return undefined;
    const email = emailHeader && getHeader(request, emailHeader);
    const name = nameHeader && getHeader(request, nameHeader);
    return { externalId, ...(email && { email }), ...(name && { name }) };
  };
  const identity: Identity = {
    async identify(request) {
      const found = read(request);
      return found && toIdentity ? toIdentity(found, request) : found;
    },
  };
  if (toIdentity !== undefined) return identity;
  // Read again for every request: a cached answer never replaces the check of the sender.
  return { ...identity, credential: (request) => JSON.stringify(read(request)) };
}

function createTrustCheck(trust: Trust): (request: IdentityRequest) => boolean {
  if ('addresses' in trust) {
    const ranges = toBlockList(trust.addresses);
    return ({ remoteAddress = '' }) => {
      const family = isIP(remoteAddress);
      return family !== 0 && ranges.check(remoteAddress, family === 6 ? 'ipv6' : 'ipv4');
    };
  }
  const name = trust.header.toLowerCase();
  if (name === '' || trust.secret.length < MIN_SECRET) {
    throw new RangeError(`trust: expected a header and a secret of ${MIN_SECRET} characters or more`);
  }
  const wanted = hash(trust.secret);
  return (request) => timingSafeEqual(hash(getHeader(request, name) ?? ''), wanted);
}

function toBlockList(addresses: readonly string[]): BlockList {
  if (addresses.length === 0) throw new RangeError('trust.addresses: expected at least one address');
  const list = new BlockList();
  for (const text of addresses) {
    const [address = '', bits] = text.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    const prefix = bits === undefined ? undefined : Number(bits);
    const isRange =
      prefix === undefined || (/^\d{1,3}$/.test(bits ?? '') && prefix <= (family === 'ipv6' ? 128 : 32));
    if (isIP(address) === 0 || !isRange) {
      throw new RangeError(`trust.addresses: expected an address or CIDR range, got ${JSON.stringify(text)}`);
    }
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, prefix, family);
  }
  return list;
}

/** Of one length, for the comparison in constant time. */
function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
