import type { CryptoKey as JoseKey } from 'jose';
import { createBoundedMap } from '../bounded-map.ts';
import type { Clock } from '../ports/clock.ts';
import { hashSecret } from './secrets.ts';

export type TokenType = 'access' | 'refresh';

export interface TokenClaims {
  /** The user's id. */
  readonly id: string;
  readonly tokenVersion: number;
  readonly typ: TokenType;
}

const LIFETIME_SECONDS: Readonly<Record<TokenType, number>> = { access: 7 * 86_400, refresh: 30 * 86_400 };

/** Tokens of signed-in users: HS256, short claims, nothing secret inside. @see open points, 4.2 */
export interface AccessTokens {
  sign(claims: TokenClaims): Promise<string>;
  /** @returns undefined for anything but a token of ours, of this type, still running. */
  verify(token: string, type: TokenType): Promise<TokenClaims | undefined>;
}

/** @param secret the HMAC key, 32 bytes. */
export function createAccessTokens(secret: Uint8Array, clock: Clock): AccessTokens {
  let signing: Promise<Signing> | undefined;
  // Once: importing the key per verification costs more than the verification.
  const prepare = (): Promise<Signing> => {
    signing ??= prepareSigning(secret);
    return signing;
  };
  /** By the hash of the whole token, so that no usable token lies in memory. */
  const verified = createBoundedMap<TokenClaims & { readonly expiresAt: number }>(10_000);

  return {
    async sign(claims) {
      const { jose, key } = await prepare();
      const now = Math.floor(clock.now() / 1000);
      return new jose.SignJWT({ id: claims.id, tokenVersion: claims.tokenVersion, typ: claims.typ })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setIssuedAt(now)
        .setExpirationTime(now + LIFETIME_SECONDS[claims.typ])
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

/** Loaded with the first token: a host whose callers all have keys starts without it. */
interface Signing {
  readonly jose: typeof import('jose');
  readonly key: JoseKey | Uint8Array;
}

async function prepareSigning(secret: Uint8Array): Promise<Signing> {
  const jose = await import('jose');
  const jwk = { kty: 'oct', k: Buffer.from(secret).toString('base64url'), alg: 'HS256' };
  return { jose, key: await jose.importJWK(jwk, 'HS256') };
}

async function read(
  token: string,
  { jose, key }: Signing,
  now: number,
): Promise<(TokenClaims & { expiresAt: number }) | undefined> {
  try {
    const { payload } = await jose.jwtVerify(token, key, {
      algorithms: ['HS256'],
      currentDate: new Date(now),
      requiredClaims: ['exp', 'iat'],
    });
    const { id, tokenVersion, typ, exp } = payload;
    if (typeof id !== 'string' || typeof tokenVersion !== 'number' || exp === undefined) return undefined;
    if (typ !== 'access' && typ !== 'refresh') return undefined;
    return { id, tokenVersion, typ, expiresAt: exp * 1000 };
  } catch {
    return undefined;
  }
}
