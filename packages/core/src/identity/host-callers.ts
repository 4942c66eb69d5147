import { LRUCache } from 'lru-cache';
import type { ModelList, TokenCaller } from '../contract/call.ts';
import type { Clock } from '../ports/clock.ts';
import type { HostIdentity, Identity, IdentityRequest } from '../ports/identity.ts';
import { withMaxEntries } from '../shared/cache-size.ts';
import { ApiError, forbidden } from '../shared/errors.ts';
import { hashSecret } from '../shared/secrets.ts';
import { withTimeout } from '../shared/timeouts.ts';
import { parseHostIdentity, toCaller } from './host-answer.ts';
import { isCrossSite, isUnsafe } from './origin.ts';

/** Options of host identities. */
export interface IdentitySettings {
  /**
   * How long an answer is used again for the same credential, in milliseconds: 0 to 60,000. It bounds the delay after a
   * sign-out in the host. 0: `identify` is called for each request. Default 2,000.
   */
  readonly cacheTtlMs: number;
  /** Timeout of `identify` in milliseconds, 1 to 60,000. Default 5,000. */
  readonly timeoutMs: number;
  /**
   * Origins whose pages may send changing requests, such as `https://app.example.com`, in addition to the request's own
   * host and `publicUrl`. Default: none.
   */
  readonly allowedOrigins: readonly string[];
}

export const DEFAULT_IDENTITY_SETTINGS: IdentitySettings = {
  cacheTtlMs: 2000,
  timeoutMs: 5000,
  allowedOrigins: [],
};

/** The account of a host user. */
export interface HostAccount {
  readonly userId: string;
  readonly isDisabled: boolean;
  /** Those of the user or the organization that pays. */
  readonly modelLists: readonly ModelList[];
}

/** Identifies callers by the host's own credentials. */
export interface HostCallers {
  /**
   * Returns synchronously for a cached answer.
   * @param changes whether the request can change something. Default: by its method.
   * @returns undefined for an unknown caller.
   * @throws ApiError 403 for a request of another site, 503 when the host gives no valid answer.
   */
  identify(
    request: IdentityRequest,
    changes?: boolean,
  ): TokenCaller | undefined | Promise<TokenCaller | undefined>;
  /** Evicts the answers of a user. */
  forgetUser(userId: string): void;
}

export interface HostCallersOptions {
  readonly identity: Identity;
  readonly settings: IdentitySettings;
  readonly clock: Clock;
  /** Finds or creates the account of an identity. @throws ApiError 403 if it may not use what it names. */
  findAccount(identity: HostIdentity): Promise<HostAccount>;
}

const MAX_CACHED = 10_000;

interface CacheEntry {
  readonly caller: TokenCaller;
  readonly until: number;
}

export function createHostCallers({
  identity,
  settings,
  clock,
  findAccount,
}: HostCallersOptions): HostCallers {
  const { cacheTtlMs, timeoutMs } = settings;
  const allowed = new Set(settings.allowedOrigins);
  /** Keyed by the hash of the credential, so that memory contains no usable credential. */
  const known = new LRUCache<string, CacheEntry>(withMaxEntries(MAX_CACHED));
  /** Running lookups: parallel requests with one credential share an answer. */
  const running = new Map<string, Promise<TokenCaller | undefined>>();
  /** Eviction counter: a lookup that began before an eviction is not cached. */
  let evictions = 0;

  const ask = async (request: IdentityRequest): Promise<HostIdentity | undefined> => {
    try {
      const answer = await withTimeout(
        clock,
        timeoutMs,
        () => new Error(`identity.identify: no answer within ${timeoutMs} ms`),
        undefined,
        async (signal) => identity.identify(request, { signal }),
      );
      return answer === undefined || answer === null ? undefined : parseHostIdentity(answer);
    } catch (cause) {
      throw identityUnavailable(cause);
    }
  };

  const lookUp = async (request: IdentityRequest): Promise<TokenCaller | undefined> => {
    const found = await ask(request);
    if (found === undefined) return undefined;
    const { userId, isDisabled, modelLists } = await findAccount(found);
    if (isDisabled) throw forbidden('This account is disabled');
    return toCaller(userId, found, modelLists);
  };

  const lookUpOnce = (key: string, request: IdentityRequest): Promise<TokenCaller | undefined> => {
    const shared = running.get(key);
    if (shared !== undefined) return shared;
    const before = evictions;
    const now = clock.now();
    const lookup = lookUp(request)
      .then((caller) => {
        // From the time of the question: the host may have signed the user out since its answer.
        if (caller !== undefined && evictions === before) known.set(key, { caller, until: now + cacheTtlMs });
        return caller;
      })
      .finally(() => {
        if (running.get(key) === lookup) running.delete(key);
      });
    running.set(key, lookup);
    return lookup;
  };

  return {
    identify(request, changes = isUnsafe(request)) {
      if (changes && isCrossSite(request, allowed)) {
        throw forbidden('Requests from other sites are not accepted');
      }
      const shown = toIdentityRequest(request);
      const credential = cacheTtlMs === 0 ? undefined : getCredential(identity, shown);
      if (credential === undefined) return lookUp(shown);
      const key = hashSecret(credential);
      const entry = known.get(key);
      return entry !== undefined && entry.until > clock.now() ? entry.caller : lookUpOnce(key, shown);
    },
    forgetUser(userId) {
      evictions += 1;
      for (const [key, { caller }] of [...known.entries()]) {
        if (caller.userId === userId) known.delete(key);
      }
      // Later requests must not share a lookup that began before the eviction.
      running.clear();
    },
  };
}

/** Without body, query and signal: answers depend on the credential alone. */
function toIdentityRequest({
  method,
  path,
  headers,
  remoteAddress,
  protocol,
}: IdentityRequest): IdentityRequest {
  return { method, path, headers, remoteAddress, protocol };
}

function getCredential(identity: Identity, request: IdentityRequest): string | undefined {
  if (identity.credential === undefined) return JSON.stringify(request);
  try {
    return identity.credential(request);
  } catch (cause) {
    throw identityUnavailable(cause);
  }
}

/** The same for every cause: the cause reaches the host's `onError` only. */
function identityUnavailable(cause: unknown): ApiError {
  return new ApiError(503, 'Your sign-in could not be checked. Try again shortly.', {
    headers: { 'Retry-After': '5' },
    applicationCode: 'INTERNAL_ERROR',
    cause,
  });
}
