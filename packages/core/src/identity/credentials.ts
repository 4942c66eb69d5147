import { createBoundedMap } from '../bounded-map.ts';
import type { Caller, KeyCaller, TokenCaller } from '../call.ts';
import { ApiError } from '../errors.ts';
import { type ApiHeaders, header } from '../http/message.ts';
import type { Auth } from '../operation.ts';
import type { Clock } from '../ports/clock.ts';
import type { Publisher } from '../ports/publisher.ts';
import type { Store } from '../ports/store.ts';
import { API_KEYS, type ApiKeyRecord, USERS, type UserRecord } from './records.ts';
import { createRevocations } from './revocations.ts';
import { hashSecret } from './secrets.ts';
import type { AccessTokens } from './tokens.ts';

/** How long a credential may be believed without asking the store: bounds how long a revocation elsewhere goes unseen. */
const BELIEVED_MS = 1500;
/** How often a key's `lastUsedAt` is written at most. */
const USED_EVERY_MS = 60_000;
const CACHED = 10_000;

/** Says who is calling. */
export interface Authenticator {
  /**
   * At once for a credential that is believed already, because nearly every call brings one; else a promise.
   * @throws ApiError 401 with the reason's fixed text, never with anything of the credential.
   */
  authenticate(headers: ApiHeaders, auth: Exclude<Auth, 'none'>): Caller | Promise<Caller>;
  /** Who stands behind one key or token, as a realtime connection presents it. */
  identify(credential: string): Promise<Caller>;
  /** Forgets a key after it was changed, rotated or revoked: here at once, elsewhere as soon as they hear of it. */
  forgetKey(keyId: string): void;
  /** Forgets a user after a ban, a logout or a change of rights, in the same way. */
  forgetUser(userId: string): void;
  /** Stops listening to what other processes revoke; it is then found out by looking. */
  close(): Promise<void>;
}

interface Believed<T> {
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
  onError: (error: unknown) => void;
}): Authenticator {
  const { store, clock, tokens } = services;
  const apiKeys = store.collection(API_KEYS);
  const users = store.collection(USERS);
  const knownKeys = createBoundedMap<Believed<KnownKey>>(CACHED, ({ value: { record } }) => {
    // A rotated key may be known by its new secret already.
    if (hashes.get(record.id) === record.hash) hashes.delete(record.id);
  });
  const knownUsers = createBoundedMap<Believed<UserRecord>>(CACHED);
  /** The hash under which a key is cached, to forget it by its id. */
  const hashes = new Map<string, string>();
  const used = createBoundedMap<number>(CACHED);
  /** Counts what was forgotten: what was read before that is not believed after it. */
  let forgotten = 0;

  const dropKey = (keyId: string): void => {
    forgotten += 1;
    const hash = hashes.get(keyId);
    if (hash !== undefined) knownKeys.delete(hash);
  };
  const dropUser = (userId: string): void => {
    forgotten += 1;
    knownUsers.delete(userId);
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
    const known = { record, caller: callerOfKey(record) };
    if (forgotten === before) {
      // No longer than its owner, who may have been looked up earlier.
      knownKeys.set(hash, { value: known, until: Math.min(now + BELIEVED_MS, owner.until) });
      hashes.set(record.id, hash);
    }
    return admit(known, now);
  }

  function admit({ record, caller }: KnownKey, now: number): KeyCaller {
    if (record.expiresAt !== null && record.expiresAt <= now) throw badCredential();
    const lastUse = used.get(record.id) ?? record.lastUsedAt ?? 0;
    if (now - lastUse >= USED_EVERY_MS) void noteUse(record, now);
    return caller;
  }

  /** Nobody waits for it, and a failure costs only the date. */
  async function noteUse(record: ApiKeyRecord, now: number): Promise<void> {
    used.set(record.id, now);
    try {
      await apiKeys.update(record.id, { lastUsedAt: now });
    } catch (error) {
      services.onError(error);
    }
  }

  async function userById(id: string): Promise<Believed<UserRecord> | undefined> {
    const now = clock.now();
    const known = knownUsers.get(id);
    if (known !== undefined && known.until > now) return known;
    const before = forgotten;
    const user = await users.get(id);
    if (user === undefined) {
      knownUsers.delete(id);
      return undefined;
    }
    const believed = { value: user, until: now + BELIEVED_MS };
    if (forgotten === before) knownUsers.set(id, believed);
    return believed;
  }

  async function tokenCaller(token: string): Promise<TokenCaller> {
    revocations.listen();
    const claims = await tokens.verify(token, 'access');
    const user = claims && (await userById(claims.id))?.value;
    if (user === undefined || user.disabled || user.tokenVersion !== claims?.tokenVersion) throw badToken();
    return { kind: 'token', userId: user.id, isAdmin: user.isAdmin };
  }

  return {
    authenticate(headers, auth): Caller | Promise<Caller> {
      const presented = credentialIn(headers);
      if (presented.kind === 'token') return tokenCaller(presented.token);
      if (auth === 'token') throw badToken();
      return keyCaller(presented.secret);
    },
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

function callerOfKey(record: ApiKeyRecord): KeyCaller {
  return {
    kind: 'key',
    userId: record.userId,
    keyId: record.id,
    scopes: record.scopes,
    organizationId: record.organizationId ?? undefined,
    requestsPerMinute: record.requestsPerMinute,
    requestsPerDay: record.requestsPerDay,
    spendCap: record.spendCap ?? undefined,
  };
}

type Presented = { kind: 'key'; secret: string } | { kind: 'token'; token: string };

const SCHEME = /^(bearer|apikey) +(\S+) *$/i;
const KEY = /^svc_(?:live|test)_[0-9A-Za-z]{32,}$/;

/**
 * The one credential of a request. A key beats a token; two different keys, or a broken key beside a good one, are
 * nobody's. @see open points, 1.4
 */
function credentialIn(headers: ApiHeaders): Presented {
  const authorization = header(headers, 'authorization');
  const legacy = header(headers, 'x-api-key');
  const match = authorization === undefined ? undefined : (SCHEME.exec(authorization) ?? undefined);
  const value = match?.[2] ?? '';
  const isKeyScheme = match?.[1]?.toLowerCase() === 'apikey';
  const keys: string[] = [];
  if (legacy !== undefined && legacy !== '') keys.push(legacy);
  if (isKeyScheme || value.startsWith('svc_')) keys.push(value);
  const [secret] = keys;
  if (secret !== undefined) {
    if (keys.some((key) => key !== secret || !KEY.test(key))) throw badCredential();
    return { kind: 'key', secret };
  }
  if (value === '') throw badCredential();
  return { kind: 'token', token: value };
}

function badCredential(): ApiError {
  return new ApiError(401, 'Authentication failed. Provide a valid API key or JWT token.');
}

function badToken(): ApiError {
  return new ApiError(401, 'Invalid or expired token');
}
