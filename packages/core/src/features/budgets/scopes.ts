import type { Caller } from '../../contract/call.ts';
import { isId } from '../../contract/identifiers.ts';
import { type BudgetRecord, type BudgetScope, getSubject } from '../../credits/budget-rules.ts';
import { may } from '../../identity/abilities.ts';
import { API_KEYS, USERS } from '../../identity/records.ts';
import type { Store } from '../../ports/store.ts';
import { forbidden, invalid, notFound } from '../../shared/errors.ts';
import type { AdministrationCheck } from '../organizations/membership.ts';
import { ORGANIZATIONS } from '../organizations/records.ts';
import { PROJECTS } from '../projects/records.ts';

export interface ScopeServices {
  readonly store: Store;
  readonly administers: AdministrationCheck;
}

/** A scope that the caller may manage budgets of. */
export interface ManagedScope
  extends Pick<BudgetRecord, 'scope' | 'scopeId' | 'subject' | 'userId' | 'managedBy'> {}

const NAMES: Readonly<Record<BudgetScope, string>> = {
  key: 'API key',
  user: 'User',
  organization: 'Organization',
  project: 'Project',
  everyone: 'Budget',
};

/**
 * Finds a scope, and how the caller manages it: as its owner, or as an administrator.
 * @throws ApiError 403 for `everyone`, 404 for a scope that does not exist or belongs to others, 422 for a missing id.
 */
export async function findScope(
  services: ScopeServices,
  caller: Caller,
  scope: BudgetScope,
  id: string | undefined,
): Promise<ManagedScope> {
  const isAdmin = isAdministrator(caller);
  if (scope === 'everyone') {
    if (id !== undefined) throw invalid('scopeId', 'expected none for the scope everyone');
    if (!isAdmin) throw forbidden('Administrators only');
    return {
      scope,
      scopeId: null,
      subject: getSubject(scope, null),
      userId: null,
      managedBy: 'administrator',
    };
  }
  const scopeId = id ?? (scope === 'user' ? caller.userId : undefined);
  if (scopeId === undefined) throw invalid('scopeId', `expected the id of the ${scope}`);
  const owner = await findOwner(services, caller, scope, scopeId);
  if (owner === undefined || (!owner.isCaller && !isAdmin)) throw notFound(NAMES[scope]);
  return {
    scope,
    scopeId,
    subject: getSubject(scope, scopeId),
    userId: owner.userId,
    managedBy: owner.isCaller ? 'owner' : 'administrator',
  };
}

/** Administrators manage the budgets of all users and organizations. */
export function isAdministrator(caller: Caller): boolean {
  return may(caller, 'administer', 'User');
}

/** Whether the caller owns the scope of a budget, or administers its organization. */
export async function ownsScope(
  { administers }: ScopeServices,
  { userId }: Caller,
  budget: Pick<BudgetRecord, 'scope' | 'scopeId' | 'userId'>,
): Promise<boolean> {
  if (budget.scope === 'organization' && budget.scopeId !== null) return administers(userId, budget.scopeId);
  return budget.userId === userId;
}

interface ScopeOwner {
  readonly userId: string | null;
  readonly isCaller: boolean;
}

async function findOwner(
  { store, administers }: ScopeServices,
  caller: Caller,
  scope: Exclude<BudgetScope, 'everyone'>,
  id: string,
): Promise<ScopeOwner | undefined> {
  const toOwner = (userId: string | undefined): ScopeOwner | undefined =>
    userId === undefined ? undefined : { userId, isCaller: userId === caller.userId };
  if (scope === 'user') {
    return toOwner(id === caller.userId ? id : (await store.collection(USERS).get(id))?.id);
  }
  if (!isId(id)) return undefined;
  if (scope === 'key') return toOwner((await store.collection(API_KEYS).get(id))?.userId);
  if (scope === 'project') return toOwner((await store.collection(PROJECTS).get(id))?.ownerId);
  if (await administers(caller.userId, id)) return { userId: null, isCaller: true };
  const organization = await store.collection(ORGANIZATIONS).get(id);
  return organization && { userId: null, isCaller: false };
}
