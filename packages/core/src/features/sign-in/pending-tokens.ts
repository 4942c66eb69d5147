import { createHmac, timingSafeEqual } from 'node:crypto';

/** The state of a sign-in: its challenge, and the number of answers when the token was issued. */
export interface Pending {
  readonly challengeId: string;
  readonly serial: number;
  /** End of the challenge, epoch milliseconds. */
  readonly expiresAt: number;
}

/** Signs the state of a sign-in between the mail and the code. */
export interface PendingTokens {
  sign(pending: Pending, email: string): string;
  /** @returns undefined for anything but our token for this e-mail address. Does not check its age. */
  verify(token: string, email: string): Pending | undefined;
  /** The six digits of a challenge: only the secret leads to them, so no store holds them. */
  toCode(challengeId: string): string;
}

const FORM = /^([0-9a-f]{24})\.(\d{1,9})\.(\d{1,15})\.([\w-]{43})$/;
/** Of 2^64 numbers, so that all codes are equally likely but for 1 in 10^13. */
const CODES = 1_000_000n;

/** @param secret may also sign access tokens; no token of one kind is valid as another. */
export function createPendingTokens(secret: Uint8Array): PendingTokens {
  const key = createHmac('sha256', secret).update('sign-in').digest();
  const digest = (...parts: readonly string[]): Buffer =>
    createHmac('sha256', key).update(JSON.stringify(parts)).digest();
  const mac = ({ challengeId, serial, expiresAt }: Pending, email: string): string =>
    digest('token', challengeId, String(serial), String(expiresAt), email).toString('base64url');

  return {
    sign(pending, email) {
      const { challengeId, serial, expiresAt } = pending;
      return `${challengeId}.${serial}.${expiresAt}.${mac(pending, email)}`;
    },
    verify(token, email) {
      const [, challengeId = '', serial, expiresAt, presented = ''] = FORM.exec(token) ?? [];
      const pending = { challengeId, serial: Number(serial), expiresAt: Number(expiresAt) };
      return isEqual(presented, mac(pending, email)) ? pending : undefined;
    },
    toCode: (challengeId) => String(digest('code', challengeId).readBigUInt64BE() % CODES).padStart(6, '0'),
  };
}

export function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
