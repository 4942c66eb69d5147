import { SHARING_COLUMNS, type ShareableRecord } from '../../access/access.ts';
import { defineCollection, type StoredRecord } from '../../ports/store.ts';

/**
 * `pending`: announced, not uploaded yet. `scanning`: in moderation. `clean`: exactly these bytes may be used. `blocked`:
 * rejected, and the bytes are deleted.
 */
export type FileStatus = 'pending' | 'scanning' | 'clean' | 'blocked';

/** A file of a user. Its name is display text, and never part of a path. */
export interface FileRecord extends ShareableRecord {
  readonly name: string;
  /** Type and subtype in lower case, without parameters. */
  readonly mimeType: string;
  /** Bytes. */
  readonly size: number;
  readonly status: FileStatus;
  /** The origin: uploaded by its owner, or generated. */
  readonly source: 'upload' | 'generated';
  readonly createdAt: number;
  /** Shown to users who may change the file. */
  readonly notes?: string;
  /** Expiry of its upload URL. Epoch milliseconds. */
  readonly uploadUntil?: number;
  /** The key of the moderated bytes. No client has ever had write access to it. */
  readonly objectKey?: string;
  /** Failed moderation attempts. */
  readonly failures?: number;
  /** Extraction attempts that exceeded a limit or never ended. */
  readonly readAttempts?: number | undefined;
  /** Why the last extraction failed, for users. */
  readonly readRefusal?: string | undefined;
}

export const FILES = defineCollection<FileRecord>({
  name: 'files',
  columns: {
    ...SHARING_COLUMNS,
    name: 'text',
    status: 'text',
    createdAt: 'integer',
    failures: 'integer',
    readAttempts: 'integer',
  },
  unique: [],
  indexes: [['ownerId', 'createdAt'], ['createdAt']],
});

/** Storage usage of a user; its id is the user's. Announced files count from the start. */
export interface FileUsageRecord extends StoredRecord {
  readonly bytes: number;
}

export const FILE_USAGE = defineCollection<FileUsageRecord>({
  name: 'file_usage',
  columns: { bytes: 'integer' },
  unique: [],
  indexes: [],
});
