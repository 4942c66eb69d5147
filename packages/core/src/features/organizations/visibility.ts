import { canRead } from '../../access/access.ts';
import type { Caller } from '../../contract/call.ts';
import { isId } from '../../contract/identifiers.ts';
import { may } from '../../identity/abilities.ts';
import type { UserRecord } from '../../identity/records.ts';
import type { Filter, Store } from '../../ports/store.ts';
import { getMembers } from './organizations.ts';
import { ORGANIZATIONS } from './records.ts';

/** The users that a caller may see, and their visible organizations. */
export interface Visibility {
  readonly userId: string;
  readonly seesAll: boolean;
  readonly organizationIds: ReadonlySet<string>;
  readonly filter: Filter<UserRecord>;
}

/** Administrators see all users; others see themselves and the members of their own organizations. */
export async function getVisibility(store: Store, caller: Caller): Promise<Visibility> {
  const { userId } = caller;
  if (may(caller, 'administer', 'User')) {
    return { userId, seesAll: true, organizationIds: new Set(), filter: {} };
  }
  const organizations = await store.collection(ORGANIZATIONS).find(canRead(userId));
  const ids = new Set([userId, ...organizations.flatMap(getMembers)]);
  return {
    userId,
    seesAll: false,
    organizationIds: new Set(organizations.map(({ id }) => id)),
    filter: { id: { in: [...ids] } },
  };
}

/** The members of one organization that the caller may see: none when the organization is unknown to the caller. */
export async function membersSeen(
  store: Store,
  sight: Visibility,
  organizationId: string,
): Promise<Filter<UserRecord>> {
  const guard = sight.seesAll ? {} : canRead(sight.userId);
  const organization = isId(organizationId)
    ? await store.collection(ORGANIZATIONS).get(organizationId, guard)
    : undefined;
  return { id: { in: organization === undefined ? [] : getMembers(organization) } };
}
