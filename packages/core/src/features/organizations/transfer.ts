import type { Store } from '../../ports/store.ts';
import { ORGANIZATIONS, type OrganizationRecord } from './records.ts';

/**
 * Makes a member the owner, in the caller's transaction. The owner before becomes an administrator, or leaves together
 * with the account.
 * @returns undefined if the owner has changed concurrently.
 */
export async function transferTo(
  store: Store,
  { id, ownerId, readerIds = [], writerIds = [] }: OrganizationRecord,
  newOwnerId: string,
  { staysMember }: { readonly staysMember: boolean },
): Promise<OrganizationRecord | undefined> {
  const isOther = (one: string): boolean => one !== newOwnerId && one !== ownerId;
  const change = {
    ownerId: newOwnerId,
    readerIds: readerIds.filter(isOther),
    writerIds: [...writerIds.filter(isOther), ...(staysMember ? [ownerId] : [])],
  };
  return store.collection(ORGANIZATIONS).update(id, change, { ownerId });
}
