import { isId } from '../../contract/identifiers.ts';
import { USERS, type UserRecord } from '../../identity/records.ts';
import { removeWhere } from '../../ports/remove-where.ts';
import type { Filter, Store } from '../../ports/store.ts';
import { conflict, notFound } from '../../shared/errors.ts';
import type { WireInvite } from './contract.ts';
import { pendingFor, SHARING_INVITES, type SharingInviteRecord } from './records.ts';
import type { Resource } from './resource.ts';
import { grantShare } from './shares.ts';

/** @throws ApiError 409 while the address has another pending invite to the same resource. */
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
 * Returns a pending invite to the caller's own address.
 * @throws ApiError 404 for any other, 409 when it was answered, withdrawn or has expired.
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
 * Accepts an invite, if its creator may still offer it.
 * @throws ApiError 404, 409 as `answerable`.
 */
export async function accept(
  resources: readonly Resource[],
  store: Store,
  userId: string,
  id: string,
  now: number,
): Promise<WireInvite['resource']> {
  const invite = await answerable(store, userId, id, now);
  const resource = resources.find(({ type }) => type === invite.type);
  const offered = resource?.canInvite(invite.invitedBy);
  const record = await resource?.records(store).get(invite.resourceId, offered);
  if (resource === undefined || record === undefined) throw notFound('Invite');
  await grantShare(resource, store, record, userId, invite.permission);
  await store
    .collection(SHARING_INVITES)
    .update(id, { status: 'accepted', acceptedBy: userId, pendingFor: undefined });
  const name = (await resource.findNames(store, [record.id])).get(record.id) ?? '';
  return { type: resource.type, id: record.id, name };
}

/** Deletes the invites to deleted resources among up to 1,000 of these, so that lists and their totals contain none. */
export async function dropInvitesToDeleted(
  resources: readonly Resource[],
  store: Store,
  which: Filter<SharingInviteRecord>,
): Promise<void> {
  const invites = store.collection(SHARING_INVITES);
  const rows = await invites.find(which);
  const names = await findNames(resources, store, rows);
  const orphans = rows.filter(({ type, resourceId }) => names.get(type)?.has(resourceId) !== true);
  if (orphans.length === 0) return;
  await removeWhere(invites, { status: 'pending', id: { in: orphans.map(({ id }) => id) } });
}

/** Invites with their senders and resources, by id; without those whose resource is deleted. */
export async function showInvites(
  resources: readonly Resource[],
  store: Store,
  rows: readonly SharingInviteRecord[],
): Promise<ReadonlyMap<string, WireInvite>> {
  if (rows.length === 0) return new Map();
  const senderIds = [...new Set(rows.map(({ invitedBy }) => invitedBy))].filter(isId);
  const senders = new Map(
    (await store.collection(USERS).find({ id: { in: senderIds } })).map((user) => [user.id, user]),
  );
  const names = await findNames(resources, store, rows);
  return new Map(
    rows.flatMap((row) => {
      const name = names.get(row.type)?.get(row.resourceId);
      return name === undefined ? [] : [[row.id, toWireInvite(row, name, senders.get(row.invitedBy))]];
    }),
  );
}

/** The names of the offered resources that exist, by kind and id. */
async function findNames(
  resources: readonly Resource[],
  store: Store,
  rows: readonly SharingInviteRecord[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
  const names = new Map<string, ReadonlyMap<string, string>>();
  for (const resource of resources) {
    const ids = rows.flatMap(({ type, resourceId }) => (type === resource.type ? [resourceId] : []));
    names.set(resource.type, await resource.findNames(store, [...new Set(ids)]));
  }
  return names;
}

function toWireInvite(invite: SharingInviteRecord, name: string, sender: UserRecord | undefined): WireInvite {
  return {
    _id: invite.id,
    type: invite.type,
    resourceId: invite.resourceId,
    resource: { type: invite.type, id: invite.resourceId, name },
    email: invite.email,
    permission: invite.permission,
    status: invite.status,
    invitedBy: invite.invitedBy,
    sender: sender === undefined ? null : { name: sender.username, email: sender.email },
    createdAt: new Date(invite.createdAt).toISOString(),
    expiresAt: invite.expiresAt === null ? null : new Date(invite.expiresAt).toISOString(),
  };
}

function isOver({ expiresAt }: SharingInviteRecord, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}
