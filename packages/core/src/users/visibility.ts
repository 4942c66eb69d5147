import type { Caller } from '../call.ts';
import { isId } from '../http/identifiers.ts';
import { may } from '../identity/abilities.ts';
import type { UserRecord } from '../identity/records.ts';
import { membersOf } from '../organizations/organizations.ts';
import { ORGANIZATIONS } from '../organizations/records.ts';
import type { Filter, Store } from '../ports/store.ts';
import { canRead } from '../sharing/access.ts';

/** Whom somebody gets to see, and of which organizations. */
export interface Sight {
  readonly userId: string;
  readonly seesAll: boolean;
  readonly organizationIds: ReadonlySet<string>;
  readonly filter: Filter<UserRecord>;
}

/** Administrators see everybody; others themselves and the members of their own organizations. */
export async function sightOf(store: Store, caller: Caller): Promise<Sight> {
  const { userId } = caller;
  if (may(caller, 'read', 'User')) {
    return { userId, seesAll: true, organizationIds: new Set(), filter: {} };
  }
  const organizations = await store.collection(ORGANIZATIONS).find(canRead(userId));
  const ids = new Set([userId, ...organizations.flatMap(membersOf)]);
  return {
    userId,
    seesAll: false,
    organizationIds: new Set(organizations.map(({ id }) => id)),
    filter: { id: { in: [...ids] } },
  };
}

/** The members of one organization, as far as somebody sees it: nobody when it is unknown to them. */
export async function membersSeen(
  store: Store,
  sight: Sight,
  organizationId: string,
): Promise<Filter<UserRecord>> {
  const guard = sight.seesAll ? {} : canRead(sight.userId);
  const organization = isId(organizationId)
    ? await store.collection(ORGANIZATIONS).get(organizationId, guard)
    : undefined;
  return { id: { in: organization === undefined ? [] : membersOf(organization) } };
}
