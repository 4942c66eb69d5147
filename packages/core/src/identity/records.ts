import type { KeySpendCap } from '../contract/call.ts';
import type { Scope } from '../contract/scopes.ts';
import { defineCollection, type StoredRecord } from '../ports/store.ts';

/** The language of users without a choice. */
export const DEFAULT_LANGUAGE = 'en';

/** A user account. */
export interface UserRecord extends StoredRecord {
  /** Lower case. */
  readonly email: string;
  readonly username: string;
  readonly firstName: string | null;
  readonly lastName: string | null;
  /** The user's primary organization. The organization record defines its members. */
  readonly organizationId: string | null;
  readonly isAdmin: boolean;
  /** Banned: all credentials of the user are rejected. */
  readonly disabled: boolean;
  /** Incremented to invalidate all issued tokens. */
  readonly tokenVersion: number;
  /** Sign-ins that were revoked because a refresh token was reused, until their tokens expire. */
  readonly endedFamilies?: readonly { readonly id: string; readonly until: number }[];
  readonly tier: 'free' | 'basic' | 'pro' | 'other';
  readonly preferences: Readonly<Record<string, string>>;
  /** Notification preferences. */
  readonly notifications?: { readonly email?: boolean; readonly slack?: boolean } | undefined;
  /** Initial credit in micro-credits, granted once at sign-in. */
  readonly startingCredits?: number;
  readonly createdAt: number;
}

/** The user accounts: `services.store.collection(USERS)`. Create accounts with `createUser`. */
export const USERS = defineCollection<UserRecord>({
  name: 'users',
  secretFields: { tokenVersion: true, endedFamilies: true },
  columns: {
    email: 'text',
    username: 'text',
    organizationId: 'text',
    isAdmin: 'boolean',
    disabled: 'boolean',
    tokenVersion: 'integer',
    createdAt: 'integer',
  },
  unique: [['email']],
  indexes: [['createdAt'], ['organizationId', 'createdAt'], ['username']],
  search: ['username', 'email'],
});

/** An API key. The secret is not stored, only its SHA-256. */
export interface ApiKeyRecord extends StoredRecord {
  readonly userId: string;
  readonly name: string;
  /** SHA-256 of the whole secret, hexadecimal. */
  readonly hash: string;
  /** The first 16 characters, for display. */
  readonly keyPrefix: string;
  readonly scopes: readonly Scope[];
  readonly mode: 'live' | 'test';
  readonly status: 'active' | 'disabled';
  /** The owner's reason for the revocation. */
  readonly revokedFor?: string;
  readonly expiresAt: number | null;
  readonly requestsPerMinute: number;
  readonly requestsPerDay: number;
  readonly spendCap: KeySpendCap | null;
  /** The models that the key may use. Absent or null: all. */
  readonly models?: readonly string[] | null;
  readonly organizationId: string | null;
  readonly lastUsedAt: number | null;
  readonly createdAt: number;
}

export const API_KEYS = defineCollection<ApiKeyRecord>({
  name: 'api_keys',
  secretFields: { hash: true },
  columns: {
    userId: 'text',
    name: 'text',
    hash: 'text',
    status: 'text',
    expiresAt: 'integer',
    lastUsedAt: 'integer',
    organizationId: 'text',
    createdAt: 'integer',
  },
  unique: [['hash']],
  indexes: [['userId', 'createdAt'], ['organizationId']],
});
