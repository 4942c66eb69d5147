import type { Filter, StoredRecord } from '../ports/store.ts';

/** A record that its owner can share. Its access control list is part of the record, so that guards can query it. */
export interface ShareableRecord extends StoredRecord {
  readonly ownerId: string;
  /** Users with read access. */
  readonly readerIds?: readonly string[] | undefined;
  /** Users with read and write access. */
  readonly writerIds?: readonly string[] | undefined;
}

/** The access control columns of a shareable collection. */
export const SHARING_COLUMNS = { ownerId: 'text', readerIds: 'list', writerIds: 'list' } as const;

/** Matches records that the user can read: as owner, reader or writer. */
export function canRead(userId: string): Filter<ShareableRecord> {
  return { anyOf: [{ ownerId: userId }, { readerIds: { has: userId } }, { writerIds: { has: userId } }] };
}

/** Matches records that another user has shared with this user. */
export function isSharedWith(userId: string): Filter<ShareableRecord> {
  return { anyOf: [{ readerIds: { has: userId } }, { writerIds: { has: userId } }] };
}

/** What a share permits. */
export const PERMISSIONS = ['read', 'write'] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** `canRead` for a record that was read already. */
export function isReader(
  { ownerId, readerIds = [], writerIds = [] }: ShareableRecord,
  userId: string,
): boolean {
  return ownerId === userId || readerIds.includes(userId) || writerIds.includes(userId);
}

/** The permission of a user with a share. */
function getPermission({ writerIds = [] }: ShareableRecord, userId: string): Permission {
  return writerIds.includes(userId) ? 'write' : 'read';
}

/** The records of a list: own ones, or with `shared` what others have shared with the user. */
export function whose(userId: string, shared: 'true' | 'false' | undefined): Filter<ShareableRecord> {
  return shared === 'true' ? isSharedWith(userId) : { ownerId: userId };
}

/** The permission of an entry in a list of shared records. */
export function sharedAs(
  record: ShareableRecord,
  userId: string,
  shared: 'true' | 'false' | undefined,
): { readonly permission?: Permission } {
  return shared === 'true' ? { permission: getPermission(record, userId) } : {};
}

/** Matches records that the user can change: as owner or writer. */
export function canWrite(userId: string): Filter<ShareableRecord> {
  return { anyOf: [{ ownerId: userId }, { writerIds: { has: userId } }] };
}
