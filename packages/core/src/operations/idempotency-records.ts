import { defineCollection, type StoredRecord } from '../ports/store.ts';

/**
 * A stored response for an `Idempotency-Key`, whose id is a hash of caller, path and key; or a name that is used up, whose id
 * is a hash of user and name.
 */
export interface IdempotencyRecord extends StoredRecord {
  /** Of the body, or of the work that uses the name. */
  readonly bodyHash: string;
  /** JSON text of the response, or of the user. */
  readonly answer: string;
  /** The caller. Absent in records of earlier versions. */
  readonly userId?: string;
  readonly expiresAt: number;
}

export const IDEMPOTENCY = defineCollection<IdempotencyRecord>({
  name: 'idempotency',
  secretFields: { bodyHash: true },
  columns: { expiresAt: 'integer' },
  unique: [],
  indexes: [['expiresAt']],
});
