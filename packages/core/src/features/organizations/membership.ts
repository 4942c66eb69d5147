import { canRead, canWrite } from '../../access/access.ts';
import { type Caller, getPayer, type Payer, withoutModelLists } from '../../contract/call.ts';
import { isId } from '../../contract/identifiers.ts';
import { may } from '../../identity/abilities.ts';
import { type ModelLists, toModelLists } from '../../identity/model-lists.ts';
import type { Filter, Store } from '../../ports/store.ts';
import { notFound } from '../../shared/errors.ts';
import { ORGANIZATIONS, type OrganizationRecord } from './records.ts';

/** The organizations that a user sees: own ones; administrators see all. */
export function visibleTo(caller: Caller): Filter<OrganizationRecord> {
  return may(caller, 'administer', 'Organization') ? {} : canRead(caller.userId);
}

/** Whether a user belongs to an organization, which permits charges to it. */
export type MembershipCheck = (userId: string, organizationId: string) => Promise<boolean>;

export function createMembershipCheck(store: Store): MembershipCheck {
  const organizations = store.collection(ORGANIZATIONS);
  return async (userId, organizationId) =>
    isId(organizationId) && (await organizations.get(organizationId, canRead(userId))) !== undefined;
}

/** Whether a user may administer an organization: create keys it pays for, change its members. */
export type AdministrationCheck = (userId: string, organizationId: string) => Promise<boolean>;

export function createAdministrationCheck(store: Store): AdministrationCheck {
  const organizations = store.collection(ORGANIZATIONS);
  return async (userId, organizationId) =>
    isId(organizationId) && (await organizations.get(organizationId, canWrite(userId))) !== undefined;
}

export interface PayerServices {
  readonly isMember: MembershipCheck;
  readonly modelLists: ModelLists;
}

/**
 * Returns the payer, with the lists of models that apply to it: the named organization, else the caller's own account. A
 * promise only for an organization.
 * @throws ApiError 404 for an organization the caller does not belong to.
 */
export function payerFor(
  services: PayerServices,
  caller: Caller,
  organizationId: string | undefined,
): Payer | Promise<Payer> {
  return organizationId === undefined ? getPayer(caller) : payerOf(services, caller, organizationId);
}

async function payerOf(
  { isMember, modelLists }: PayerServices,
  caller: Caller,
  organizationId: string,
): Promise<Payer> {
  if (!(await isMember(caller.userId, organizationId))) throw notFound('Organization');
  const own = caller.modelLists?.filter(({ source }) => source === 'key' || source === 'identity') ?? [];
  return {
    ...withoutModelLists(getPayer(caller, `organization:${organizationId}`)),
    ...toModelLists(own, await modelLists.ofOrganization(organizationId)),
  };
}
