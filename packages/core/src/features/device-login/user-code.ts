import { createHmac } from 'node:crypto';
import type { Ids } from '../../ports/ids.ts';

/** No vowels, so that no word arises, and no letters that look or sound alike (RFC 8628, section 6.1). */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
/** 20^8 codes, 34 bits: enough because guesses are limited and a code lives for ten minutes. */
const LENGTH = 8;
/** The largest multiple of 20 within a byte. Larger bytes are discarded to avoid modulo bias. */
const FAIR_BYTES = 240;

/** Creates a code that a person copies from one screen to another, e.g. `BDWP-HQPK`. */
export function createUserCode(ids: Ids): string {
  let code = '';
  while (code.length < LENGTH) {
    for (const byte of ids.bytes(LENGTH)) {
      if (byte < FAIR_BYTES && code.length < LENGTH) code += LETTERS.charAt(byte % LETTERS.length);
    }
  }
  return `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;
}

/** Hashes a user code as a person types it: in any case, with or without the dash. */
export type UserCodeHash = (userCode: string) => string;

/** @param secret the key of the hash: without it, a stored hash of a short code is found by trying all codes. */
export function createUserCodeHash(secret: Uint8Array): UserCodeHash {
  const key = createHmac('sha256', secret).update('device-login').digest();
  return (userCode) => {
    const plain = userCode.toUpperCase().replaceAll(/[^A-Z0-9]/g, '');
    return createHmac('sha256', key).update(plain).digest('base64url');
  };
}
