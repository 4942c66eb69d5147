import type { Filter, StoredRecord } from '../ports/store.ts';

/** A record that its owner can share with other people: the rights are kept on the record, so that a guard can ask them. */
export interface ShareableRecord extends StoredRecord {
  readonly ownerId: string;
  /** Users it is shared with to read. */
  readonly readerIds?: readonly string[] | undefined;
  /** Users it is shared with to read and write. */
  readonly writerIds?: readonly string[] | undefined;
}

/** The columns a shareable collection has among its own. */
export const SHARING_COLUMNS = { ownerId: 'text', readerIds: 'list', writerIds: 'list' } as const;

/** The owner, and everybody it is shared with. */
export function canRead(userId: string): Filter<ShareableRecord> {
  return { anyOf: [{ ownerId: userId }, { readerIds: { has: userId } }, { writerIds: { has: userId } }] };
}

/** The owner, and those it is shared with to write. */
export function canWrite(userId: string): Filter<ShareableRecord> {
  return { anyOf: [{ ownerId: userId }, { writerIds: { has: userId } }] };
}
