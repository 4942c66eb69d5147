import { createHmac } from 'node:crypto';

/** Without letters and digits that look alike. */
const ALPHABET = 'ABCDEFGHJKMNPQRSTVWXYZ23456789';
const LENGTH = 12;

/**
 * The invite code of the first account where codes are sent by mail: `XXXX-XXXX-XXXX`, about 58 bits. It is derived
 * from the session secret, so that every process of one workspace shows the same code.
 */
export function createSetupCode(sessionSecret: string): string {
  const bytes = createHmac('sha512', Buffer.from(sessionSecret, 'hex')).update('setup-code').digest();
  const letters = [...bytes.subarray(0, LENGTH)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
  return letters.replace(/(.{4})(?=.)/g, '$1-');
}
