import type { HostIdentity, Identity, IdentityRequest } from '@questline/core/ports';
import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { getHeader } from './header.ts';

export interface JwksIdentityOptions {
  /** The `iss` claim of the tokens, exactly. */
  readonly issuer: string;
  /** The `aud` claim of the tokens: one of these. Tokens for other applications are refused. */
  readonly audience: string | readonly string[];
  /** Where the issuer publishes its keys. Default: read from `/.well-known/openid-configuration` of the issuer. */
  readonly jwksUrl?: string | URL;
  /** Signature algorithms. Default: all asymmetric ones in common use. */
  readonly algorithms?: readonly string[];
  /** Tolerated difference of the clocks in seconds. Default 5. */
  readonly clockToleranceSeconds?: number;
  /** Maps the claims of a verified token. Default: `sub`, `name`, and `email` if `email_verified` is true. */
  readonly toIdentity?: (claims: JWTPayload) => HostIdentity | undefined;
}

/** No HMAC: the public key of an issuer must never verify one. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
const TIMEOUT_MS = 5000;
const BEARER = /^bearer +([\w-]+\.[\w-]+\.[\w-]+) *$/i;

/**
 * Identifies callers by a signed token (JWT) of an OpenID Connect issuer, sent as `Authorization: Bearer`. Keys are
 * fetched when first needed and again for an unknown key, at most once in 30 seconds.
 * @throws RangeError for HMAC algorithms or without an audience.
 * @example
 * jwksIdentity({ issuer: 'https://login.example.com/', audience: 'https://ai.example.com' });
 */
export function jwksIdentity({
  issuer,
  audience,
  jwksUrl,
  algorithms = ALGORITHMS,
  clockToleranceSeconds = 5,
  toIdentity = readClaims,
}: JwksIdentityOptions): Identity {
  if (audience.length === 0) throw new RangeError('audience: expected at least one');
  if (algorithms.length === 0 || algorithms.some((name) => !/^(?:RS|PS|ES|Ed)/.test(name))) {
    throw new RangeError('algorithms: expected asymmetric algorithms, such as RS256');
  }
  let keys: Promise<JWTVerifyGetKey> | undefined;
  const getKeys = async (): Promise<JWTVerifyGetKey> => {
    keys ??= findKeys(issuer, jwksUrl);
    try {
      return await keys;
    } catch (error) {
      // The next token tries again.
      keys = undefined;
      throw error;
    }
  };

  return {
    credential: getToken,
    async identify(request) {
      const token = getToken(request);
      if (token === undefined) return undefined;
      const getKey = await getKeys();
      try {
        const { payload } = await jwtVerify(token, getKey, {
          issuer,
          audience: typeof audience === 'string' ? audience : [...audience],
          algorithms: [...algorithms],
          clockTolerance: clockToleranceSeconds,
          requiredClaims: ['exp', 'sub'],
        });
        return toIdentity(payload);
      } catch (error) {
        if (isInvalidToken(error)) return undefined;
        throw error;
      }
    },
  };
}

function getToken(request: IdentityRequest): string | undefined {
  return BEARER.exec(getHeader(request, 'authorization') ?? '')?.[1];
}

function readClaims({ sub = '', name, email, email_verified: isVerified }: JWTPayload): HostIdentity {
  return {
    externalId: sub,
    ...(typeof name === 'string' && { name }),
    ...(typeof email === 'string' && isVerified === true && { email }),
  };
}

async function findKeys(issuer: string, jwksUrl: string | URL | undefined): Promise<JWTVerifyGetKey> {
  const url = new URL(jwksUrl ?? (await discover(issuer)));
  return createRemoteJWKSet(url, { timeoutDuration: TIMEOUT_MS });
}

async function discover(issuer: string): Promise<string> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`the configuration of the issuer answers ${response.status}`);
  const { issuer: named, jwks_uri: keys } = (await response.json()) as Readonly<Record<string, unknown>>;
  if (named !== issuer) throw new Error('the configuration of the issuer names another issuer');
  if (typeof keys !== 'string') throw new Error('the configuration of the issuer has no jwks_uri');
  return keys;
}

/** Errors that the token causes. All others are failures of the issuer. */
const INVALID_TOKEN: ReadonlySet<string> = new Set([
  errors.JOSEAlgNotAllowed.code,
  errors.JOSENotSupported.code,
  errors.JWKSMultipleMatchingKeys.code,
  errors.JWKSNoMatchingKey.code,
  errors.JWSInvalid.code,
  errors.JWSSignatureVerificationFailed.code,
  errors.JWTClaimValidationFailed.code,
  errors.JWTExpired.code,
  errors.JWTInvalid.code,
]);

function isInvalidToken(error: unknown): boolean {
  return error instanceof errors.JOSEError && INVALID_TOKEN.has(error.code);
}
