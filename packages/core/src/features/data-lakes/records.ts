import { SHARING_COLUMNS, type ShareableRecord } from '../../access/access.ts';
import type { Payer } from '../../contract/call.ts';
import { defineCollection, type StoredRecord } from '../../ports/store.ts';

/** `draft`: empty so far. `archived`: kept and searchable by name, but accepts no files. `deleting`: deletion is in progress. */
export type LakeStatus = 'draft' | 'active' | 'archived' | 'deleting';

/** Files that are searchable by meaning. */
export interface LakeRecord extends ShareableRecord {
  readonly name: string;
  /** Identifies it in paths; unique among all lakes. */
  readonly slug: string;
  readonly description?: string | undefined;
  /** Members may read the lake, administrators may change it. */
  readonly organizationId?: string;
  /** All users may read it. */
  readonly isPublic: boolean;
  readonly status: LakeStatus;
  readonly fileCount: number;
  /** Total bytes of its files. */
  readonly totalSize: number;
  /** Time when a file last became ready. */
  readonly lastSyncAt?: number;
  /** Set by the first ingested file: vectors of different models are not comparable. */
  readonly embeddingModel?: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export const LAKES = defineCollection<LakeRecord>({
  name: 'data_lakes',
  columns: {
    ...SHARING_COLUMNS,
    slug: 'text',
    organizationId: 'text',
    isPublic: 'boolean',
    status: 'text',
    fileCount: 'integer',
    totalSize: 'integer',
    embeddingModel: 'text',
    createdAt: 'integer',
    updatedAt: 'integer',
  },
  unique: [['slug']],
  indexes: [
    ['createdAt'],
    ['ownerId', 'createdAt'],
    ['status', 'updatedAt'],
    ['isPublic', 'createdAt'],
    ['organizationId'],
  ],
});

export type IngestionStatus = 'indexing' | 'paused' | 'ready' | 'failed';

/** A file in a lake. The index uses its id, so that a file that is added again is a new one there. */
export interface LakeFileRecord extends StoredRecord {
  readonly lakeId: string;
  readonly fileId: string;
  /** The user who added it: the file is read with this user's rights … */
  readonly addedBy: string;
  /** … and this payer is charged for its embeddings. */
  readonly payer: Payer;
  readonly requestId: string;
  /** Bytes. */
  readonly size: number;
  /** The user whose quota includes its bytes. Absent: added before they were counted. */
  readonly countedTo?: string;
  readonly status: IngestionStatus;
  readonly chunkCount: number;
  /** Number of searchable chunks; later chunks follow in order. */
  readonly vectorizedCount: number;
  /** Why it paused or failed, as a message for callers. */
  readonly error?: string | undefined;
  /** Number of released holds: each retry holds under a new key. */
  readonly tries: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export const LAKE_FILES = defineCollection<LakeFileRecord>({
  name: 'data_lake_files',
  columns: {
    lakeId: 'text',
    fileId: 'text',
    status: 'text',
    createdAt: 'integer',
    updatedAt: 'integer',
  },
  unique: [['lakeId', 'fileId']],
  indexes: [['lakeId', 'status'], ['lakeId', 'createdAt'], ['fileId'], ['status', 'updatedAt']],
});
