import type { Payer } from '../call.ts';
import { defineCollection, type StoredRecord } from '../ports/store.ts';
import { SHARING_COLUMNS, type ShareableRecord } from '../sharing/access.ts';

/** `draft`: nothing was ever added. `archived`: kept and found when named, but takes nothing in. `deleting`: about to be gone. */
export type LakeStatus = 'draft' | 'active' | 'archived' | 'deleting';

/** Files that can be searched by meaning. */
export interface LakeRecord extends ShareableRecord {
  readonly name: string;
  /** Names it in addresses, of all lakes only this one. */
  readonly slug: string;
  readonly description?: string | undefined;
  /** Its members may read the lake, its administrators change it. */
  readonly organizationId?: string;
  /** Everybody may read it. */
  readonly isPublic: boolean;
  readonly status: LakeStatus;
  readonly fileCount: number;
  /** Bytes of its files. */
  readonly totalSize: number;
  /** When a file last became ready. */
  readonly lastSyncAt?: number;
  /** Chosen when the first file is read: vectors of two models cannot be compared. */
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
  indexes: [['createdAt'], ['ownerId', 'createdAt'], ['status', 'updatedAt']],
});

export type IngestionStatus = 'indexing' | 'paused' | 'ready' | 'failed';

/** A file in a lake; its id is what the index knows the file by, so that a file added anew is another one there. */
export interface LakeFileRecord extends StoredRecord {
  readonly lakeId: string;
  readonly fileId: string;
  /** Who added it: the file is read with this user's rights … */
  readonly addedBy: string;
  /** … and its embedding paid for by this one. */
  readonly payer: Payer;
  readonly requestId: string;
  /** Bytes. */
  readonly size: number;
  readonly status: IngestionStatus;
  readonly chunkCount: number;
  /** Chunks that can be found; those come in order. */
  readonly vectorizedCount: number;
  /** Why it paused or failed, in words for callers. */
  readonly error?: string | undefined;
  /** Holds that were given back: a new try holds under a new key. */
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
  indexes: [['lakeId', 'status'], ['fileId'], ['status', 'updatedAt']],
});
