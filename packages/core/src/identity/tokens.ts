import type { CryptoKey as JoseKey } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../ports/clock.ts';
import { withMaxEntries } from '../shared/cache-size.ts';
import { hashSecret } from '../shared/secrets.ts';

export type TokenType = 'access' | 'refresh';

export interface TokenClaims {
  /** The user's id. */
  readonly id: string;
  readonly tokenVersion: number;
  readonly typ: TokenType;
  /** The sign-in of the token. Absent: signed by the host or by an earlier version. */
  readonly family?: string;
  /** Refresh tokens: the number of renewals of the token family. */
  readonly sequence?: number;
  /** End of the sign-in, in epoch milliseconds. Absent: the expiry of this token. */
  readonly renewableUntil?: number;
}

/** A verified token. */
export interface VerifiedToken extends TokenClaims {
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** Seconds, an integer of 60 or more. */
export interface TokenLifetimes {
  readonly access: number;
  readonly refresh: number;
}

/** 7 and 30 days. */
export const DEFAULT_TOKEN_LIFETIMES: TokenLifetimes = { access: 7 * 86_400, refresh: 30 * 86_400 };

/** Signs and verifies tokens of signed-in users: HS256, short claims, no secrets. */
export interface AccessTokens {
  readonly lifetimes: TokenLifetimes;
  /** Signs a token. It expires after the lifetime of its type, at the latest at `renewableUntil`. */
  sign(claims: TokenClaims): Promise<string>;
  /** @returns undefined unless the token is valid, of this type and not expired. */
  verify(token: string, type: TokenType): Promise<VerifiedToken | undefined>;
}

/** Maximum number of cached tokens. */
const CACHED = 10_000;

/** @param secret the HMAC key, 32 bytes. */
export function createAccessTokens(
  secret: Uint8Array,
  clock: Clock,
  lifetimes: TokenLifetimes = DEFAULT_TOKEN_LIFETIMES,
): AccessTokens {
  let signing: Promise<Signing> | undefined;
  // Imported once: importing the key costs more than a verification.
  const prepare = (): Promise<Signing> => {
    signing ??= prepareSigning(secret);
    return signing;
  };
  /** Keyed by the hash of the token, so that memory contains no usable token. */
  const verified = new LRUCache<string, VerifiedToken>(withMaxEntries(CACHED));

  return {
    lifetimes,
    async sign({ id, tokenVersion, typ, family, sequence, renewableUntil }) {
      const { jose, key } = await prepare();
      const now = Math.floor(clock.now() / 1000);
      const last = renewableUntil === undefined ? undefined : Math.floor(renewableUntil / 1000);
      return new jose.SignJWT({
        id,
        tokenVersion,
        typ,
        ...(family !== undefined && { fam: family }),
        ...(sequence !== undefined && { seq: sequence }),
        ...(last !== undefined && { rexp: last }),
      })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setIssuedAt(now)
        .setExpirationTime(Math.min(now + lifetimes[typ], last ?? Number.POSITIVE_INFINITY))
        .sign(key);
    },
    async verify(token, type) {
      const hash = hashSecret(token);
      const known = verified.get(hash);
      const now = clock.now();
      if (known !== undefined) return known.typ === type && known.expiresAt > now ? known : undefined;
      const claims = await read(token, await prepare(), now);
      if (claims === undefined) return undefined;
      verified.set(hash, claims);
      return claims.typ === type ? claims : undefined;
    },
  };
}

/** Whether a token is one of ours by its claims, valid or not. Its signature is not checked. */
export function isOwnToken(token: string): boolean {
  try {
    const text = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString();
    const { typ, tokenVersion } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    return (typ === 'access' || typ === 'refresh') && typeof tokenVersion === 'number';
  } catch {
    return false;
  }
}

/** Loaded with the first token, because hosts with API keys only do not need it. */
interface Signing {
  readonly jose: typeof import('jose');
  readonly key: JoseKey | Uint8Array;
}

async function prepareSigning(secret: Uint8Array): Promise<Signing> {
  const jose = await import('jose');
  const jwk = { kty: 'oct', k: Buffer.from(secret).toString('base64url') };
  return { jose, key: await jose.importJWK(jwk, 'HS256') };
}

async function read(token: string, { jose, key }: Signing, now: number): Promise<VerifiedToken | undefined> {
  try {
    const { payload } = await jose.jwtVerify(token, key, {
      algorithms: ['HS256'],
      currentDate: new Date(now),
      requiredClaims: ['exp', 'iat'],
    });
    const { id, tokenVersion, typ, exp, fam, seq, rexp } = payload;
    if (typeof id !== 'string' || typeof tokenVersion !== 'number' || exp === undefined) return undefined;
    if (typ !== 'access' && typ !== 'refresh') return undefined;
    return {
      id,
      tokenVersion,
      typ,
      expiresAt: exp * 1000,
      ...(typeof fam === 'string' && { family: fam }),
      ...(typeof seq === 'number' && { sequence: seq }),
      ...(typeof rexp === 'number' && { renewableUntil: rexp * 1000 }),
    };
  } catch {
    return undefined;
  }
}
