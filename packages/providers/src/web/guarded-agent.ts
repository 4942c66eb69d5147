import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { WebToolError } from '@questline/core/ports';
import { Agent } from 'undici/index.js';

export type AddressCheck = (address: string) => boolean;

/**
 * Resolves names to permitted addresses only. The connection uses the checked address, so a DNS answer
 * that changes in between (DNS rebinding) has no effect.
 */
export function guardedLookup(isAllowed: AddressCheck, resolve: typeof lookup = lookup): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) callback(error, []);
      else if (addresses.length === 0 || !addresses.every(({ address }) => isAllowed(address))) {
        callback(forbiddenTarget(), []);
      } else if (options.all === true) callback(null, addresses);
      else callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
    });
  };
}

/** Connections to permitted addresses only. */
export function createGuardedAgent(isAllowed: AddressCheck, timeoutMs: number): Agent {
  return new Agent({
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect: { timeout: timeoutMs, lookup: guardedLookup(isAllowed) },
  });
}

/** Checks the parts without a DNS lookup: scheme, credentials, and hosts that are IP addresses. */
export function checkTarget(text: string, isAllowed: AddressCheck): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new WebToolError('INVALID_INPUT', 'url: expected an http or https address.');
  }
  if (url.username !== '' || url.password !== '') {
    throw new WebToolError('INVALID_INPUT', 'url: credentials in an address are not accepted.');
  }
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) > 0 && !isAllowed(host)) throw forbiddenTarget();
  return url;
}

function forbiddenTarget(): WebToolError {
  return new WebToolError('INVALID_INPUT', 'url: this address is not on the open internet.');
}
