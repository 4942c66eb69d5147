import type { KeySpendCap } from '../contract/call.ts';
import { getScopeListIssue, type Scope } from '../contract/scopes.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { Store } from '../ports/store.ts';
import { hashSecret } from '../shared/secrets.ts';
import type { Authenticator } from './credentials.ts';
import { API_KEYS, type ApiKeyRecord, USERS } from './records.ts';

/** Base62 characters after the prefix: 43 contain 256 bits. */
const SECRET_LENGTH = 43;
const SHOWN_PREFIX = 16;

export interface ApiKeyServices {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly authenticator: Authenticator;
}

/** An API key to create. Only `userId`, `name` and `scopes` are required. */
export interface NewApiKey {
  /** The id of an existing user. */
  readonly userId: string;
  /** For display. */
  readonly name: string;
  /** At least one scope. A confined scope, such as `embed:chat`, stands alone. */
  readonly scopes: readonly Scope[];
  /** The prefix of the secret, `svc_live_` or `svc_test_`. Default `live`. */
  readonly mode?: 'live' | 'test';
  /** Epoch milliseconds. Default: never. */
  readonly expiresAt?: number | null;
  /** Default 60. */
  readonly requestsPerMinute?: number;
  /** Default 1000. */
  readonly requestsPerDay?: number;
  /** Maximum spending per day, month or in total, in micro-credits. Default: none. */
  readonly spendCap?: KeySpendCap | null;
  /** The models that the key may use, by id. Default: all. */
  readonly models?: readonly string[] | null;
  /** The organization that pays. Default: the user pays. */
  readonly organizationId?: string | null;
}

/** A new key with its secret. The secret is shown once; only its hash is stored. */
export interface IssuedApiKey {
  readonly record: ApiKeyRecord;
  /** The secret, for the `x-api-key` header. */
  readonly key: string;
}

/**
 * Creates an API key.
 * @throws RangeError for an unknown user, no or unknown scopes, or an invalid combination of scopes.
 * @example
 * const { key, record } = await issueApiKey(services, { userId: user.id, name: 'cli', scopes: ['ai:chat'] });
 */
export async function issueApiKey(services: ApiKeyServices, input: NewApiKey): Promise<IssuedApiKey> {
  const issue = getScopeListIssue(input.scopes);
  if (issue !== undefined) throw new RangeError(issue);
  if ((await services.store.collection(USERS).get(input.userId)) === undefined) {
    throw new RangeError(`userId: there is no user ${JSON.stringify(input.userId)}`);
  }
  const mode = input.mode ?? 'live';
  const { key, hash, keyPrefix } = mintSecret(services.ids, mode);
  const record: ApiKeyRecord = {
    id: services.ids.next(),
    userId: input.userId,
    name: input.name,
    hash,
    keyPrefix,
    scopes: input.scopes,
    mode,
    status: 'active',
    expiresAt: input.expiresAt ?? null,
    requestsPerMinute: input.requestsPerMinute ?? 60,
    requestsPerDay: input.requestsPerDay ?? 1000,
    spendCap: input.spendCap ?? null,
    models: input.models ?? null,
    organizationId: input.organizationId ?? null,
    lastUsedAt: null,
    createdAt: services.clock.now(),
  };
  await services.store.collection(API_KEYS).insert(record);
  return { record, key };
}

/**
 * Replaces the secret of a key. The old secret is invalid immediately in this process, and within two seconds in
 * other processes. Id, limits and spending stay. @returns undefined if the user has no active key with this id.
 */
export async function rotateApiKey(
  services: ApiKeyServices,
  userId: string,
  keyId: string,
): Promise<IssuedApiKey | undefined> {
  const keys = services.store.collection(API_KEYS);
  const mine = { userId, status: 'active' } as const;
  const before = await keys.get(keyId, mine);
  const now = services.clock.now();
  if (before === undefined || (before.expiresAt !== null && before.expiresAt <= now)) return undefined;
  const { key, hash, keyPrefix } = mintSecret(services.ids, before.mode);
  const record = await keys.update(keyId, { hash, keyPrefix }, mine);
  services.authenticator.forgetKey(keyId);
  return record && { record, key };
}

/**
 * Revokes a key, immediately in this process and within two seconds in other processes. @returns false if the user
 * has no such key.
 */
export async function revokeApiKey(
  services: ApiKeyServices,
  userId: string,
  keyId: string,
  reason?: string,
): Promise<boolean> {
  const keys = services.store.collection(API_KEYS);
  const change = { status: 'disabled', ...(reason !== undefined && { revokedFor: reason }) } as const;
  const record = await keys.update(keyId, change, { userId });
  services.authenticator.forgetKey(keyId);
  return record !== undefined;
}

/** Creates a secret with its hash and its display prefix. */
function mintSecret(
  ids: Ids,
  mode: 'live' | 'test',
): { readonly key: string; readonly hash: string; readonly keyPrefix: string } {
  const key = `svc_${mode}_${ids.secret(SECRET_LENGTH)}`;
  return { key, hash: hashSecret(key), keyPrefix: key.slice(0, SHOWN_PREFIX) };
}
