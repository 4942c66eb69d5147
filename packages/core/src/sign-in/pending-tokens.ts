import { createHmac, timingSafeEqual } from 'node:crypto';

/** Where a sign-in stands: which challenge, and how often it was answered when the token was made. */
export interface Pending {
  readonly challengeId: string;
  readonly serial: number;
}

/** What keeps a sign-in together between the mail and the code. */
export interface PendingTokens {
  sign(pending: Pending, email: string): string;
  /** @returns undefined for anything but a token of ours, for this e-mail address. Says nothing of its age. */
  verify(token: string, email: string): Pending | undefined;
  /** What is stored of a code: six digits need a key, a bare hash is guessed at once. */
  hashCode(challengeId: string, code: string): string;
}

const FORM = /^([0-9a-f]{24})\.(\d{1,9})\.([\w-]{43})$/;

/** @param secret perhaps the one that signs access tokens too; no token of one kind passes for one of another. */
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
