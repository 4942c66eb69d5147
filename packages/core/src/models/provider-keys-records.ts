import { defineCollection, type StoredRecord } from '../ports/store.ts';

/** Providers that users can store their own keys for: `ModelProvider` ids. */
export const KEYED_SERVICES = ['anthropic', 'openai', 'gemini', 'xai'] as const;

export type KeyedService = (typeof KEYED_SERVICES)[number];

/** A user's own key for a model provider. */
export interface ProviderKeyRecord extends StoredRecord {
  readonly userId: string;
  readonly name: string;
  readonly service: KeyedService;
  /** The key, encrypted and bound to this owner and record. */
  readonly sealed: string;
  /** Its last four characters. */
  readonly keyPreview: string;
  readonly isActive: boolean;
  /** Owner and service while the key is active. Unique, so that an owner has one active key per service. */
  readonly activeFor?: string | undefined;
  readonly lastUsedAt: number | null;
  readonly createdAt: number;
}

export const PROVIDER_KEYS = defineCollection<ProviderKeyRecord>({
  name: 'provider_keys',
  secretFields: { sealed: true },
  columns: {
    userId: 'text',
    name: 'text',
    isActive: 'boolean',
    activeFor: 'text',
    lastUsedAt: 'integer',
    createdAt: 'integer',
  },
  unique: [['activeFor']],
  indexes: [['userId', 'createdAt']],
});

/** Returns the associated data of the encryption. */
export function getPlace({ userId, id }: Pick<ProviderKeyRecord, 'userId' | 'id'>): readonly string[] {
  return ['provider-key', userId, id];
}

export function activeFor({ userId, service }: Pick<ProviderKeyRecord, 'userId' | 'service'>): string {
  return `${userId}:${service}`;
}
