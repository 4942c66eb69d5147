import { defineCollection, type StoredRecord } from '../ports/store.ts';
import { SHARING_COLUMNS, type ShareableRecord } from '../sharing/access.ts';

/**
 * `pending`: announced, its bytes not taken in yet. `scanning`: they are being checked. `clean`: these very bytes may be
 * used. `blocked`: they may not, and are gone.
 */
export type FileStatus = 'pending' | 'scanning' | 'clean' | 'blocked';

/** A file of a user's. Its name is text that is shown, and never part of a path. */
export interface FileRecord extends ShareableRecord {
  readonly name: string;
  /** Type and subtype in lower case, without parameters. */
  readonly mimeType: string;
  /** Bytes. */
  readonly size: number;
  readonly status: FileStatus;
  /** How it came to be: sent by its owner, or made here. */
  readonly source: 'upload' | 'generated';
  readonly createdAt: number;
  /** Written, never shown. */
  readonly notes?: string;
  /** Until then its upload address is good. Epoch milliseconds. */
  readonly uploadUntil?: number;
  /** Where the bytes are that were found clean. Nobody was ever given an address to write there. */
  readonly objectKey?: string;
  /** Times that its moderator failed. */
  readonly failures?: number;
}

export const FILES = defineCollection<FileRecord>({
  name: 'files',
  columns: { ...SHARING_COLUMNS, name: 'text', status: 'text', createdAt: 'integer', failures: 'integer' },
  unique: [],
  indexes: [['ownerId', 'createdAt']],
});

/** What one user's files take up; its id is the user's. Announced files count from the start. */
export interface FileUsageRecord extends StoredRecord {
  readonly bytes: number;
}

export const FILE_USAGE = defineCollection<FileUsageRecord>({
  name: 'file_usage',
  columns: { bytes: 'integer' },
  unique: [],
  indexes: [],
});
