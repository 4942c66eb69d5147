import type { Permission, ShareableRecord } from '../../access/access.ts';
import type { Caller } from '../../contract/call.ts';
import { isId } from '../../contract/identifiers.ts';
import { USERS } from '../../identity/records.ts';
import type { Filter, Store } from '../../ports/store.ts';
import { conflict, forbidden, notFound } from '../../shared/errors.ts';
import { SHARING_INVITES, type SharingInviteRecord } from './records.ts';
import type { Resource } from './resource.ts';

/** Maximum users with a share: the rights are lists on the record. */
const MAX_PEOPLE = 1000;

/**
 * Returns the record, for a user with this right to it.
 * @throws ApiError 403 for a user with only read access, else 404.
 */
export async function requireRight(
  resource: Resource,
  store: Store,
  caller: Caller,
  id: string,
  right: Filter<ShareableRecord>,
): Promise<ShareableRecord> {
  const record = await resource.records(store).get(id, right);
  if (record !== undefined) return record;
  if ((await resource.show(caller, id, '')) === undefined) throw notFound(resource.subject);
  throw forbidden('Only the owner may do this');
}

/** Grants the access of an invite; never reduces an existing share. */
export async function grantShare(
  resource: Resource,
  store: Store,
  record: ShareableRecord,
  userId: string,
  permission: Permission,
): Promise<void> {
  const { id, ownerId, readerIds = [], writerIds = [] } = record;
  if (userId === ownerId || writerIds.includes(userId)) return;
  if (permission === 'read' && readerIds.includes(userId)) return;
  if (new Set([...readerIds, ...writerIds, userId]).size > MAX_PEOPLE) {
    throw conflict(`It is already shared with the maximum of ${MAX_PEOPLE} people`);
  }
  await resource
    .records(store)
    .update(
      id,
      permission === 'write'
        ? { readerIds: without(readerIds, userId), writerIds: [...writerIds, userId] }
        : { readerIds: [...readerIds, userId] },
    );
  await resource.joined(store, id, userId);
}

/**
 * Ends the share of a user at that user's wish.
 * @throws ApiError 409 for the owner, and for a user who reads it without a share.
 */
export async function leaveShare(
  resource: Resource,
  store: Store,
  id: string,
  userId: string,
): Promise<void> {
  const record = await resource.records(store).get(id);
  if (record === undefined) throw notFound(resource.subject);
  const { ownerId, readerIds = [], writerIds = [] } = record;
  if (ownerId === userId) throw conflict('The owner cannot leave it');
  if (![...readerIds, ...writerIds].includes(userId)) throw conflict('It is not shared with you');
  await revokeShares(resource, store, record, userId);
}

/**
 * Revokes the share of one user, or of all users, and withdraws their pending invites.
 * @returns the users whose shares were revoked.
 * @throws ApiError 404 for a user without a share.
 */
export async function revokeShares(
  resource: Resource,
  store: Store,
  { id, readerIds = [], writerIds = [] }: ShareableRecord,
  userId: string | undefined,
): Promise<readonly string[]> {
  const shared = [...new Set([...readerIds, ...writerIds])];
  if (userId !== undefined && !shared.includes(userId)) throw notFound('User');
  const out = userId === undefined ? shared : [userId];
  await resource.records(store).update(id, {
    readerIds: readerIds.filter((one) => !out.includes(one)),
    writerIds: writerIds.filter((one) => !out.includes(one)),
  });
  for (const one of out) await resource.left(store, id, one);
  await withdrawInvites(store, { type: resource.type, resourceId: id, ...(await toWhom(store, userId)) });
  return out;
}

async function toWhom(store: Store, userId: string | undefined): Promise<Filter<SharingInviteRecord>> {
  if (userId === undefined) return {};
  const user = isId(userId) ? await store.collection(USERS).get(userId) : undefined;
  return { anyOf: [{ acceptedBy: userId }, ...(user === undefined ? [] : [{ email: user.email }])] };
}

async function withdrawInvites(store: Store, which: Filter<SharingInviteRecord>): Promise<void> {
  const invites = store.collection(SHARING_INVITES);
  for (;;) {
    const found = await invites.find({ ...which, status: { in: ['pending', 'accepted'] } });
    if (found.length === 0) return;
    for (const { id } of found) await invites.update(id, { status: 'revoked', pendingFor: undefined });
  }
}

function without(list: readonly string[], one: string): string[] {
  return list.filter((other) => other !== one);
}
