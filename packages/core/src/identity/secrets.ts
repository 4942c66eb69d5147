import { hash } from 'node:crypto';

/** SHA-256 of a whole secret, hexadecimal: what is stored, looked up and cached in its place. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}
