import { defineCollection, type StoredRecord } from '../../ports/store.ts';

/** A device that waits for a user to sign it in. Its id is the SHA-256 of the device code. */
export interface DeviceLoginRecord extends StoredRecord {
  /** Keyed hash of the user code. */
  readonly userCodeHash: string;
  readonly clientId: string;
  readonly userAgent: string | null;
  readonly address: string | null;
  readonly status: 'pending' | 'approved' | 'denied';
  /** The user who decided. */
  readonly userId: string | null;
  /** The user's token version at the decision: a sign-out in between voids the approval. */
  readonly tokenVersion: number | null;
  /** Minimum seconds between two polls. */
  readonly interval: number;
  readonly polledAt: number;
  readonly createdAt: number;
  readonly expiresAt: number;
}

export const DEVICE_LOGINS = defineCollection<DeviceLoginRecord>({
  name: 'device_logins',
  secretFields: { userCodeHash: true, tokenVersion: true },
  columns: {
    userCodeHash: 'text',
    clientId: 'text',
    status: 'text',
    userId: 'text',
    interval: 'integer',
    polledAt: 'integer',
    expiresAt: 'integer',
  },
  unique: [['userCodeHash']],
  indexes: [['expiresAt'], ['userId']],
});
