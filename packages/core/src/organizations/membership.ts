import { type Caller, type Payer, payerOf } from '../call.ts';
import { notFound } from '../errors.ts';
import { isId } from '../http/identifiers.ts';
import { may } from '../identity/abilities.ts';
import type { Filter, Store } from '../ports/store.ts';
import { canRead, canWrite } from '../sharing/access.ts';
import { ORGANIZATIONS, type OrganizationRecord } from './records.ts';

/** Which organizations somebody gets to see: their own, and an administrator all. */
export function visibleTo(caller: Caller): Filter<OrganizationRecord> {
  return may(caller, 'read', 'Organization') ? {} : canRead(caller.userId);
}

/** Whether a user belongs to an organization, and so may have it pay. */
export type MembershipCheck = (userId: string, organizationId: string) => Promise<boolean>;

export function createMembershipCheck(store: Store): MembershipCheck {
  const organizations = store.collection(ORGANIZATIONS);
  return async (userId, organizationId) =>
    isId(organizationId) && (await organizations.get(organizationId, canRead(userId))) !== undefined;
}

/** Whether a user may act for an organization: make keys it pays for, change its members. */
export type AdministrationCheck = (userId: string, organizationId: string) => Promise<boolean>;

export function createAdministrationCheck(store: Store): AdministrationCheck {
  const organizations = store.collection(ORGANIZATIONS);
  return async (userId, organizationId) =>
    isId(organizationId) && (await organizations.get(organizationId, canWrite(userId))) !== undefined;
}

/**
 * Who pays: the named organization, else the caller's own account.
 * @throws ApiError 404 for an organization the caller does not belong to.
 */
export async function payerFor(
  isMember: MembershipCheck,
  caller: Caller,
  organizationId: string | undefined,
): Promise<Payer> {
  if (organizationId === undefined) return payerOf(caller);
  if (!(await isMember(caller.userId, organizationId))) throw notFound('Organization');
  return payerOf(caller, `organization:${organizationId}`);
}
