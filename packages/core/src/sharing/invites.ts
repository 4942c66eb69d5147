import { conflict, notFound } from '../errors.ts';
import { USERS } from '../identity/records.ts';
import type { Store } from '../ports/store.ts';
import type { WireInvite } from './contract.ts';
import { pendingFor, SHARING_INVITES, type SharingInviteRecord } from './records.ts';
import type { Resource } from './resource.ts';
import { letIn } from './shares.ts';

/** @throws ApiError 409 while the address has another one to the same thing. */
export async function insertInvite(store: Store, invite: SharingInviteRecord, now: number): Promise<void> {
  const invites = store.collection(SHARING_INVITES);
  const place = pendingFor(invite);
  const [pending] = await invites.find({ pendingFor: place }, { limit: 1 });
  if (pending !== undefined && isOver(pending, now)) {
    await invites.update(pending.id, { pendingFor: undefined });
  }
  if (!(await invites.insert({ ...invite, pendingFor: place }))) {
    throw conflict('The address has a pending invite to it already');
  }
}

/**
 * An invite that somebody may answer now: one to their own address.
 * @throws ApiError 404 for any other, 409 when it was answered, taken back or has expired.
 */
export async function answerable(
  store: Store,
  userId: string,
  id: string,
  now: number,
): Promise<SharingInviteRecord> {
  const user = await store.collection(USERS).get(userId);
  const mine = { email: user?.email ?? '' };
  const invite = await store.collection(SHARING_INVITES).get(id, mine);
  if (invite === undefined) throw notFound('Invite');
  if (invite.status !== 'pending') throw conflict('The invite is no longer pending');
  if (isOver(invite, now)) throw conflict('The invite has expired');
  return invite;
}

/**
 * Takes what an invite offers, if who made it may still offer it.
 * @throws ApiError 404, 409 as `answerable`.
 */
export async function accept(
  resources: readonly Resource[],
  store: Store,
  userId: string,
  id: string,
  now: number,
): Promise<void> {
  const invite = await answerable(store, userId, id, now);
  const resource = resources.find(({ type }) => type === invite.type);
  const offered = resource?.canInvite(invite.invitedBy);
  const record = await resource?.records(store).get(invite.resourceId, offered);
  if (resource === undefined || record === undefined) throw notFound('Invite');
  await letIn(resource, store, record, userId, invite.permission);
  await store
    .collection(SHARING_INVITES)
    .update(id, { status: 'accepted', acceptedBy: userId, pendingFor: undefined });
}

export function toWireInvite(invite: SharingInviteRecord): WireInvite {
  return {
    _id: invite.id,
    type: invite.type,
    resourceId: invite.resourceId,
    email: invite.email,
    permission: invite.permission,
    status: invite.status,
    invitedBy: invite.invitedBy,
    createdAt: new Date(invite.createdAt).toISOString(),
    expiresAt: invite.expiresAt === null ? null : new Date(invite.expiresAt).toISOString(),
  };
}

function isOver({ expiresAt }: SharingInviteRecord, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}
