import { defineCollection, type StoredRecord } from '../../ports/store.ts';

/** The account of a host user. Its id is the SHA-256 of the external id, hexadecimal. */
export interface ExternalIdRecord extends StoredRecord {
  readonly externalId: string;
  readonly userId: string;
  /** The initial credits are granted. */
  readonly isWelcomed: boolean;
  readonly createdAt: number;
}

export const EXTERNAL_IDS = defineCollection<ExternalIdRecord>({
  name: 'external_ids',
  columns: { userId: 'text' },
  unique: [['userId']],
  indexes: [],
});
