import { hash } from 'node:crypto';

/** Returns the SHA-256 of a secret in hexadecimal, for storage, lookup and caches. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}
