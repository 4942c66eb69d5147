import { API_KEYS, USERS } from '../../identity/records.ts';
import type { Store } from '../../ports/store.ts';
import { SHARING_INVITES } from '../sharing/records.ts';

/** A user's first organization becomes the default one. */
export async function memberJoined(store: Store, organizationId: string, userId: string): Promise<void> {
  await store.collection(USERS).update(userId, { organizationId }, { organizationId: null });
}

/** Ends what a former member could do for the organization: disables keys it pays for, and withdraws invites of that user. */
export async function memberLeft(store: Store, organizationId: string, userId: string): Promise<void> {
  await store.collection(USERS).update(userId, { organizationId: null }, { organizationId });
  const keys = store.collection(API_KEYS);
  for (const { id } of await keys.find({ userId, organizationId, status: 'active' })) {
    await keys.update(id, { status: 'disabled', revokedFor: 'no longer a member of the organization' });
  }
  const invites = store.collection(SHARING_INVITES);
  const open = await invites.find({ resourceId: organizationId, invitedBy: userId, status: 'pending' });
  for (const { id } of open) await invites.update(id, { status: 'revoked', pendingFor: undefined });
}
