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
import { createRecentRecords } from '../shared/recent-records.ts';
import { hashSecret } from '../shared/secrets.ts';
import type { HostCallers } from './host-callers.ts';
import { type ModelLists, toModelLists } from './model-lists.ts';
import { badCredential, findCredential, isOurs } from './presented.ts';
import { API_KEYS, type ApiKeyRecord, USERS, type UserRecord } from './records.ts';
import { createRevocations } from './revocations.ts';
import type { AccessTokens } from './tokens.ts';

/** Minimum interval between writes of a key's `lastUsedAt`. */
const USED_EVERY_MS = 60_000;
const MAX_NOTED = 10_000;

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
  const { store, clock, tokens, hostCallers, modelLists, onError } = services;
  const apiKeys = store.collection(API_KEYS);
  const userRecords = store.collection(USERS);
  const keys = createRecentRecords<ApiKeyRecord>({
    ...{ clock, onError },
    read: async (hash) => (await apiKeys.find({ hash, status: 'active' }, { limit: 1 }))[0],
    async readAll(hashes) {
      const found = await apiKeys.find({ hash: { in: hashes }, status: 'active' });
      return new Map(found.map((record) => [record.hash, record]));
    },
  });
  const users = createRecentRecords<UserRecord>({
    ...{ clock, onError },
    read: (id) => userRecords.get(id),
    async readAll(ids) {
      const found = await userRecords.find({ id: { in: ids } });
      return new Map(found.map((record) => [record.id, record]));
    },
  });
  const organizationLists = createRecentRecords<readonly ModelList[]>({
    ...{ clock, onError },
    read: (id) => modelLists.ofOrganization(id),
    readAll: (ids) => modelLists.ofOrganizations(ids),
  });
  const used = new LRUCache<string, number>(withMaxEntries(MAX_NOTED));

  const dropKey = (keyId: string): void => keys.forgetAll(({ id }) => id === keyId);
  const dropUser = (userId: string): void => {
    const payers = new Set<string | null>();
    users.forget(userId);
    keys.forgetAll((record) => {
      if (record.userId !== userId) return false;
      payers.add(record.organizationId);
      return true;
    });
    organizationLists.forgetAll((_, id) => payers.has(id));
    hostCallers?.forgetUser(userId);
  };
  const revocations = createRevocations({
    publisher: services.publisher,
    clock,
    onError,
    onRevocation: (revoked) => ('keyId' in revoked ? dropKey(revoked.keyId) : dropUser(revoked.userId)),
  });

  function keyCaller(secret: string): KeyCaller | Promise<KeyCaller> {
    const hash = hashSecret(secret);
    const record = keys.peek(hash);
    const owner = record && users.peek(record.userId);
    if (record === undefined || owner === undefined) return lookUp(hash);
    const ofPayer = findPayerLists(record, owner);
    return ofPayer instanceof Promise
      ? ofPayer.then((lists) => admit(record, owner, lists))
      : admit(record, owner, ofPayer);
  }

  async function lookUp(hash: string): Promise<KeyCaller> {
    revocations.listen();
    const record = await keys.find(hash);
    const owner = record && (await users.find(record.userId));
    if (record === undefined || owner === undefined) throw badCredential();
    return admit(record, owner, await findPayerLists(record, owner));
  }

  function findPayerLists(
    { organizationId }: ApiKeyRecord,
    owner: UserRecord,
  ): readonly ModelList[] | undefined | Promise<readonly ModelList[] | undefined> {
    return organizationId === null ? modelLists.ofUser(owner) : organizationLists.find(organizationId);
  }

  function admit(
    record: ApiKeyRecord,
    owner: UserRecord,
    ofPayer: readonly ModelList[] | undefined = [],
  ): KeyCaller {
    const now = clock.now();
    if (owner.disabled || (record.expiresAt !== null && record.expiresAt <= now)) throw badCredential();
    const lastUse = used.get(record.id) ?? record.lastUsedAt ?? 0;
    if (now - lastUse >= USED_EVERY_MS) void noteUse(record, now);
    const own: readonly ModelList[] = record.models ? [{ source: 'key', models: record.models }] : [];
    return callerOfKey(record, own, ofPayer);
  }

  /** Fire and forget: on failure only `lastUsedAt` is stale. */
  async function noteUse(record: ApiKeyRecord, now: number): Promise<void> {
    used.set(record.id, now);
    try {
      await apiKeys.update(record.id, { lastUsedAt: now });
    } catch (error) {
      onError(error);
    }
  }

  async function tokenCaller(token: string): Promise<TokenCaller> {
    revocations.listen();
    const claims = await tokens.verify(token, 'access');
    const user = claims && (await users.find(claims.id));
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
    close() {
      for (const records of [keys, users, organizationLists]) records.close();
      return revocations.close();
    },
  };
}

function callerOfKey(record: ApiKeyRecord, ...lists: readonly (readonly ModelList[])[]): KeyCaller {
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
    ...toModelLists(...lists),
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
