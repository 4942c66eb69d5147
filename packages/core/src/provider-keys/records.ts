import { defineCollection, type StoredRecord } from '../ports/store.ts';

/** Providers that a user may bring a key of their own for: the ids of their `ModelProvider`s. */
export const KEYED_SERVICES = ['anthropic', 'openai', 'gemini', 'xai'] as const;

export type KeyedService = (typeof KEYED_SERVICES)[number];

/** A user's own key for a model provider. */
export interface ProviderKeyRecord extends StoredRecord {
  readonly userId: string;
  readonly name: string;
  readonly service: KeyedService;
  /** The key itself, encrypted for this owner and this record. */
  readonly sealed: string;
  /** Its last four characters. */
  readonly keyPreview: string;
  readonly isActive: boolean;
  /** Owner and service while it is active, so that no two of a service ever are. */
  readonly activeFor?: string | undefined;
  readonly lastUsedAt: number | null;
  readonly createdAt: number;
}

export const PROVIDER_KEYS = defineCollection<ProviderKeyRecord>({
  name: 'provider_keys',
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

/** What a sealed key is bound to. */
export function placeOf({ userId, id }: Pick<ProviderKeyRecord, 'userId' | 'id'>): readonly string[] {
  return ['provider-key', userId, id];
}

export function activeFor({ userId, service }: Pick<ProviderKeyRecord, 'userId' | 'service'>): string {
  return `${userId}:${service}`;
}
