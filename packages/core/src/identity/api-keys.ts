import type { KeySpendCap } from '../call.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { Store } from '../ports/store.ts';
import type { Authenticator } from './credentials.ts';
import { API_KEYS, type ApiKeyRecord } from './records.ts';
import { type Scope, scopeListFault } from './scopes.ts';
import { hashSecret } from './secrets.ts';

/** Base62 characters behind the prefix: 43 carry 256 bits. */
const SECRET_LENGTH = 43;
const SHOWN_PREFIX = 16;

export interface ApiKeyServices {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly authenticator: Authenticator;
}

export interface NewApiKey {
  readonly userId: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly mode?: 'live' | 'test';
  /** Epoch milliseconds. Default: never. */
  readonly expiresAt?: number | null;
  /** Default 60. */
  readonly requestsPerMinute?: number;
  /** Default 1000. */
  readonly requestsPerDay?: number;
  readonly spendCap?: KeySpendCap | null;
  /** The organization that pays. */
  readonly organizationId?: string | null;
}

/** A key as its maker sees it once: afterwards only its hash exists. */
export interface IssuedApiKey {
  readonly record: ApiKeyRecord;
  readonly key: string;
}

/**
 * Makes an API key.
 * @throws RangeError when the scopes cannot stand together.
 */
export async function issueApiKey(services: ApiKeyServices, wish: NewApiKey): Promise<IssuedApiKey> {
  const fault = scopeListFault(wish.scopes);
  if (fault !== undefined) throw new RangeError(fault);
  const mode = wish.mode ?? 'live';
  const { key, hash, keyPrefix } = mintSecret(services.ids, mode);
  const record: ApiKeyRecord = {
    id: services.ids.next(),
    userId: wish.userId,
    name: wish.name,
    hash,
    keyPrefix,
    scopes: wish.scopes,
    mode,
    status: 'active',
    expiresAt: wish.expiresAt ?? null,
    requestsPerMinute: wish.requestsPerMinute ?? 60,
    requestsPerDay: wish.requestsPerDay ?? 1000,
    spendCap: wish.spendCap ?? null,
    organizationId: wish.organizationId ?? null,
    lastUsedAt: null,
    createdAt: services.clock.now(),
  };
  await services.store.collection(API_KEYS).insert(record);
  return { record, key };
}

/**
 * Gives a key a new secret; the old one is dead at once here, and within two seconds in other processes. Id, ceilings and
 * what was spent stay.
 * @returns undefined when the user has no such key that is active.
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

/** Ends a key at once here, and within two seconds in other processes. @returns false when the user has no such key. */
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

/** A new secret, what is stored of it, and what it is recognised by. */
function mintSecret(
  ids: Ids,
  mode: 'live' | 'test',
): { readonly key: string; readonly hash: string; readonly keyPrefix: string } {
  const key = `svc_${mode}_${ids.secret(SECRET_LENGTH)}`;
  return { key, hash: hashSecret(key), keyPrefix: key.slice(0, SHOWN_PREFIX) };
}
