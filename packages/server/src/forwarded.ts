import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/**
 * The client address as seen by the proxy in front: the last entry of `X-Forwarded-For`. Earlier entries come from the
 * client and can be forged.
 */
export function forwardedFor({ headers }: IncomingMessage): string | undefined {
  const value = headers['x-forwarded-for'];
  const last = (typeof value === 'string' ? value : value?.join(','))?.split(',').at(-1)?.trim();
  return last !== undefined && isIP(last) !== 0 ? last : undefined;
}
