import type { Caller } from '../call.ts';
import { conflict, forbidden, notFound } from '../errors.ts';
import { isId } from '../http/identifiers.ts';
import { USERS } from '../identity/records.ts';
import type { Filter, Store } from '../ports/store.ts';
import type { ShareableRecord } from './access.ts';
import { type Permission, SHARING_INVITES, type SharingInviteRecord } from './records.ts';
import type { Resource } from './resource.ts';

/** Rights stand in lists on the record: so many people fit. */
const MOST_PEOPLE = 1000;

/**
 * The record, for somebody with this right to it.
 * @throws ApiError 403 for who may read it and no more, else 404.
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
  throw forbidden('This is for the owner to do');
}

/** Lets somebody in, as far as an invite says; a share they have already never gets less by it. */
export async function letIn(
  resource: Resource,
  store: Store,
  record: ShareableRecord,
  userId: string,
  permission: Permission,
): Promise<void> {
  const { id, ownerId, readerIds = [], writerIds = [] } = record;
  if (userId === ownerId || writerIds.includes(userId)) return;
  if (permission === 'read' && readerIds.includes(userId)) return;
  if (new Set([...readerIds, ...writerIds, userId]).size > MOST_PEOPLE) {
    throw conflict(`It is shared with ${MOST_PEOPLE} people already`);
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
 * Shuts one person out, or everybody, and takes back what was offered to them.
 * @returns who is out.
 * @throws ApiError 404 for a person it is not shared with.
 */
export async function shutOut(
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
  await takeBack(store, { type: resource.type, resourceId: id, ...(await toWhom(store, userId)) });
  return out;
}

async function toWhom(store: Store, userId: string | undefined): Promise<Filter<SharingInviteRecord>> {
  if (userId === undefined) return {};
  const user = isId(userId) ? await store.collection(USERS).get(userId) : undefined;
  return { anyOf: [{ acceptedBy: userId }, ...(user === undefined ? [] : [{ email: user.email }])] };
}

async function takeBack(store: Store, which: Filter<SharingInviteRecord>): Promise<void> {
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
