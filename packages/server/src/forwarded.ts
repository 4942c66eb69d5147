import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/**
 * The client's address as the proxy in front saw it: the last one of `X-Forwarded-For`. Those before it are what the
 * proxy itself was sent, and anybody may send anything.
 */
export function forwardedFor({ headers }: IncomingMessage): string | undefined {
  const value = headers['x-forwarded-for'];
  const last = (typeof value === 'string' ? value : value?.join(','))?.split(',').at(-1)?.trim();
  return last !== undefined && isIP(last) !== 0 ? last : undefined;
}
