import { createHmac, timingSafeEqual } from 'node:crypto';

/** The state of a sign-in: its challenge, and the number of answers when the token was issued. */
export interface Pending {
  readonly challengeId: string;
  readonly serial: number;
}

/** Signs the state of a sign-in between the mail and the code. */
export interface PendingTokens {
  sign(pending: Pending, email: string): string;
  /** @returns undefined for anything but our token for this e-mail address. Does not check its age. */
  verify(token: string, email: string): Pending | undefined;
  /** The stored hash of a code: keyed, because a plain hash of six digits is easy to guess. */
  hashCode(challengeId: string, code: string): string;
}

const FORM = /^([0-9a-f]{24})\.(\d{1,9})\.([\w-]{43})$/;

/** @param secret may also sign access tokens; no token of one kind is valid as another. */
export function createPendingTokens(secret: Uint8Array): PendingTokens {
  const key = createHmac('sha256', secret).update('sign-in').digest();
  const mac = (...parts: readonly string[]): string =>
    createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url');

  return {
    sign({ challengeId, serial }, email) {
      return `${challengeId}.${serial}.${mac('token', challengeId, String(serial), email)}`;
    },
    verify(token, email) {
      const [, challengeId = '', serial = '', presented = ''] = FORM.exec(token) ?? [];
      if (challengeId === '') return undefined;
      const isOurs = isEqual(presented, mac('token', challengeId, serial, email));
      return isOurs ? { challengeId, serial: Number(serial) } : undefined;
    },
    hashCode: (challengeId, code) => mac('code', challengeId, code),
  };
}

export function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
