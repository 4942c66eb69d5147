import { LRUCache } from 'lru-cache';
import type { Caller, KeyCaller, ModelList, TokenCaller } from '../contract/call.ts';
import type { ApiHeaders } from '../contract/message.ts';
import type { Auth } from '../contract/operation.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdentityRequest } from '../ports/identity.ts';
import type { Publisher } from '../ports/publisher.ts';
import type { Store } from '../ports/store.ts';
import { withMaxEntries } from '../shared/cache-size.ts';
import { ApiError } from '../shared/errors.ts';
import { hashSecret } from '../shared/secrets.ts';
import type { HostCallers } from './host-callers.ts';
import { type ModelLists, toModelLists } from './model-lists.ts';
import { badCredential, findCredential, isOurs } from './presented.ts';
import { API_KEYS, type ApiKeyRecord, USERS, type UserRecord } from './records.ts';
import { createRevocations } from './revocations.ts';
import type { AccessTokens } from './tokens.ts';

/** Cache TTL of credentials. Bounds the delay of a revocation by another process. */
const CACHE_TTL_MS = 1500;
/** Minimum interval between writes of a key's `lastUsedAt`. */
const USED_EVERY_MS = 60_000;
const CACHED = 10_000;

/** Authenticates callers. */
export interface Authenticator {
  /**
   * Returns synchronously for a cached credential, the common case; otherwise a promise.
   * @param request asks the host's `identity`, if there is one. Absent: only keys and tokens are accepted.
   * @param changes whether a GET changes something.
   * @throws ApiError 401 with a fixed text that contains no part of the credential. From the host's `identity`: 403 for a
   * request of another site, 503 without a valid answer.
   */
  authenticate(
    headers: ApiHeaders,
    auth: Exclude<Auth, 'none'>,
    request?: IdentityRequest,
    changes?: boolean,
  ): Caller | Promise<Caller>;
  /** Authenticates one key or token, as sent on a realtime connection. */
  identify(credential: string): Promise<Caller>;
  /**
   * Authenticates a realtime handshake without a key or token. Absent: the host has no `identity`.
   * @throws ApiError 401, 403 or 503, as `authenticate`.
   */
  identifyHost?(request: IdentityRequest): Promise<Caller>;
  /** Evicts a key after a change, rotation or revocation: immediately here, in other processes on notification. */
  forgetKey(keyId: string): void;
  /** Evicts a user after a ban, a logout or a change of rights, in the same way. */
  forgetUser(userId: string): void;
  /** Unsubscribes from revocations of other processes. Cached entries then expire by TTL only. */
  close(): Promise<void>;
}

interface CacheEntry<T> {
  readonly value: T;
  readonly until: number;
}

interface KnownKey {
  readonly record: ApiKeyRecord;
  readonly caller: KeyCaller;
}

export function createAuthenticator(services: {
  store: Store;
  clock: Clock;
  tokens: AccessTokens;
  publisher: Publisher;
  /** Identifies callers by the host's own credentials. Absent: only keys and tokens are accepted. */
  hostCallers?: HostCallers | undefined;
  modelLists: ModelLists;
  onError: (error: unknown) => void;
}): Authenticator {
  const { store, clock, tokens, hostCallers, modelLists } = services;
  const apiKeys = store.collection(API_KEYS);
  const users = store.collection(USERS);
  const knownKeys = new LRUCache<string, CacheEntry<KnownKey>>({
    ...withMaxEntries(CACHED),
    dispose({ value: { record } }) {
      // A rotated key may already be cached under its new secret.
      if (hashes.get(record.id) === record.hash) hashes.delete(record.id);
    },
  });
  const knownUsers = new LRUCache<string, CacheEntry<UserRecord>>(withMaxEntries(CACHED));
  /** The cache key by key id, for eviction. */
  const hashes = new Map<string, string>();
  const used = new LRUCache<string, number>(withMaxEntries(CACHED));
  /** Eviction counter: a read that began before an eviction is not cached. */
  let forgotten = 0;

  const dropKey = (keyId: string): void => {
    forgotten += 1;
    const hash = hashes.get(keyId);
    if (hash !== undefined) knownKeys.delete(hash);
  };
  const dropUser = (userId: string): void => {
    forgotten += 1;
    knownUsers.delete(userId);
    hostCallers?.forgetUser(userId);
    for (const [hash, { value }] of [...knownKeys.entries()]) {
      if (value.caller.userId === userId) knownKeys.delete(hash);
    }
  };
  const revocations = createRevocations({
    publisher: services.publisher,
    clock,
    onError: services.onError,
    onRevocation: (revoked) => ('keyId' in revoked ? dropKey(revoked.keyId) : dropUser(revoked.userId)),
  });

  function keyCaller(secret: string): KeyCaller | Promise<KeyCaller> {
    const hash = hashSecret(secret);
    const now = clock.now();
    const known = knownKeys.get(hash);
    return known !== undefined && known.until > now ? admit(known.value, now) : lookUp(hash, now);
  }

  async function lookUp(hash: string, now: number): Promise<KeyCaller> {
    revocations.listen();
    const before = forgotten;
    const [record] = await apiKeys.find({ hash, status: 'active' }, { limit: 1 });
    const owner = record && (await userById(record.userId));
    if (record === undefined || owner === undefined || owner.value.disabled) {
      knownKeys.delete(hash);
      throw badCredential();
    }
    const known = { record, caller: callerOfKey(record, await findKeyLists(record, owner.value)) };
    if (forgotten === before) {
      // Expires no later than the cached owner.
      knownKeys.set(hash, { value: known, until: Math.min(now + CACHE_TTL_MS, owner.until) });
      hashes.set(record.id, hash);
    }
    return admit(known, now);
  }

  async function findKeyLists(
    { models, organizationId }: ApiKeyRecord,
    owner: UserRecord,
  ): Promise<readonly ModelList[]> {
    const own: readonly ModelList[] = models ? [{ source: 'key', models }] : [];
    const ofPayer =
      organizationId === null ? modelLists.ofUser(owner) : await modelLists.ofOrganization(organizationId);
    return [...own, ...ofPayer];
  }

  function admit({ record, caller }: KnownKey, now: number): KeyCaller {
    if (record.expiresAt !== null && record.expiresAt <= now) throw badCredential();
    const lastUse = used.get(record.id) ?? record.lastUsedAt ?? 0;
    if (now - lastUse >= USED_EVERY_MS) void noteUse(record, now);
    return caller;
  }

  /** Fire and forget: on failure only `lastUsedAt` is stale. */
  async function noteUse(record: ApiKeyRecord, now: number): Promise<void> {
    used.set(record.id, now);
    try {
      await apiKeys.update(record.id, { lastUsedAt: now });
    } catch (error) {
      services.onError(error);
    }
  }

  async function userById(id: string): Promise<CacheEntry<UserRecord> | undefined> {
    const now = clock.now();
    const known = knownUsers.get(id);
    if (known !== undefined && known.until > now) return known;
    const before = forgotten;
    const user = await users.get(id);
    if (user === undefined) {
      knownUsers.delete(id);
      return undefined;
    }
    const believed = { value: user, until: now + CACHE_TTL_MS };
    if (forgotten === before) knownUsers.set(id, believed);
    return believed;
  }

  async function tokenCaller(token: string): Promise<TokenCaller> {
    revocations.listen();
    const claims = await tokens.verify(token, 'access');
    const user = claims && (await userById(claims.id))?.value;
    if (user === undefined || user.disabled || user.tokenVersion !== claims?.tokenVersion) throw badToken();
    const { family, renewableUntil = claims.expiresAt } = claims;
    if (user.endedFamilies?.some(({ id }) => id === family) === true) throw badToken();
    const session = { ...(family !== undefined && { family }), renewableUntil };
    const { id: userId, isAdmin } = user;
    return { kind: 'token', userId, isAdmin, session, ...toModelLists(modelLists.ofUser(user)) };
  }

  /** @throws ApiError 401 for a caller whom the host does not know. */
  function hostCaller(
    hosts: HostCallers,
    request: IdentityRequest,
    auth: Exclude<Auth, 'none'>,
    changes?: boolean,
  ): TokenCaller | Promise<TokenCaller> {
    revocations.listen();
    const found = hosts.identify(request, changes);
    if (found instanceof Promise) return found.then((caller) => caller ?? raise(badCredential(auth)));
    return found ?? raise(badCredential(auth));
  }

  return {
    authenticate(headers, auth, request, changes): Caller | Promise<Caller> {
      const presented = findCredential(headers, auth);
      if (hostCallers !== undefined && request !== undefined && !isOurs(presented)) {
        return hostCaller(hostCallers, request, auth, changes);
      }
      if (presented === undefined) throw badCredential(auth);
      if (presented.kind === 'token') return tokenCaller(presented.token);
      if (auth === 'token') throw keyNotAccepted();
      return keyCaller(presented.secret);
    },
    ...(hostCallers !== undefined && {
      identifyHost: async (request: IdentityRequest) => {
        if (isOurs(findCredential(request.headers, 'key-or-token'))) throw badCredential();
        return hostCaller(hostCallers, request, 'key-or-token', true);
      },
    }),
    identify: async (credential) =>
      credential.startsWith('svc_') ? keyCaller(credential) : tokenCaller(credential),
    forgetKey(keyId) {
      dropKey(keyId);
      revocations.tell({ keyId });
    },
    forgetUser(userId) {
      dropUser(userId);
      revocations.tell({ userId });
    },
    close: () => revocations.close(),
  };
}

function callerOfKey(record: ApiKeyRecord, lists: readonly ModelList[]): KeyCaller {
  return {
    kind: 'key',
    userId: record.userId,
    keyId: record.id,
    name: record.name,
    keyPrefix: record.keyPrefix,
    scopes: record.scopes,
    organizationId: record.organizationId ?? undefined,
    requestsPerMinute: record.requestsPerMinute,
    requestsPerDay: record.requestsPerDay,
    spendCap: record.spendCap ?? undefined,
    ...toModelLists(lists),
  };
}

/** The same for every key: whether it is valid is not looked up. */
function keyNotAccepted(): ApiError {
  return new ApiError(401, 'API keys are not accepted here; sign in');
}

function raise(error: ApiError): never {
  throw error;
}

function badToken(): ApiError {
  return new ApiError(401, 'Invalid or expired token');
}
