import type { KeySpendCap } from '../call.ts';
import { defineCollection, type StoredRecord } from '../ports/store.ts';
import type { Scope } from './scopes.ts';

/** An account of a person. */
export interface UserRecord extends StoredRecord {
  /** Lower case. */
  readonly email: string;
  readonly username: string;
  readonly firstName: string | null;
  readonly lastName: string | null;
  /** The organization this person belongs to in the first place; the organization's own record says who belongs to it. */
  readonly organizationId: string | null;
  readonly isAdmin: boolean;
  /** Banned: no credential of this user is accepted. */
  readonly disabled: boolean;
  /** Raised to end all tokens given out so far. */
  readonly tokenVersion: number;
  readonly tier: 'free' | 'basic' | 'pro' | 'other';
  readonly preferences: Readonly<Record<string, string>>;
  /** Where this person wants to be told of things. */
  readonly notifications?: { readonly email?: boolean; readonly slack?: boolean } | undefined;
  /** Micro-credits that registration brings; granted at sign-in, once. */
  readonly startingCredits?: number;
  readonly createdAt: number;
}

export const USERS = defineCollection<UserRecord>({
  name: 'users',
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
  indexes: [['createdAt'], ['organizationId', 'createdAt']],
});

/** An API key. The secret itself is nowhere: only its SHA-256. */
export interface ApiKeyRecord extends StoredRecord {
  readonly userId: string;
  readonly name: string;
  /** SHA-256 of the whole secret, hexadecimal. */
  readonly hash: string;
  /** The first 16 characters, to recognise it by. */
  readonly keyPrefix: string;
  readonly scopes: readonly Scope[];
  readonly mode: 'live' | 'test';
  readonly status: 'active' | 'disabled';
  /** What its owner said when ending it. */
  readonly revokedFor?: string;
  readonly expiresAt: number | null;
  readonly requestsPerMinute: number;
  readonly requestsPerDay: number;
  readonly spendCap: KeySpendCap | null;
  readonly organizationId: string | null;
  readonly lastUsedAt: number | null;
  readonly createdAt: number;
}

export const API_KEYS = defineCollection<ApiKeyRecord>({
  name: 'api_keys',
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
  indexes: [['userId', 'createdAt']],
});
