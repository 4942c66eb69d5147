import { toCredits } from '../../credits/amounts.ts';
import { API_KEYS, USERS } from '../../identity/records.ts';
import type { CreditLedger } from '../../ports/ledger.ts';
import { removeAll } from '../../ports/remove-where.ts';
import type { Store, StoredRecord } from '../../ports/store.ts';
import { conflict } from '../../shared/errors.ts';
import { SHARING_INVITES } from '../sharing/records.ts';
import { getMembers } from './organizations.ts';
import type { OrganizationRecord } from './records.ts';
import { SUBSCRIPTIONS } from './subscriptions-records.ts';

const RUNNING: readonly string[] = ['active', 'past_due'];

/**
 * Credit is never dropped with its organization: it is spent, or moved by the operator, before.
 * @throws ApiError 409 while the organization has credit, debt, open reservations or an active subscription.
 */
export async function requireEmpty(
  { store, ledger }: { readonly store: Store; readonly ledger: CreditLedger },
  organizationId: string,
): Promise<void> {
  const { posted, held } = await ledger.balance(`organization:${organizationId}`);
  if (held !== 0)
    throw conflict('The organization pays for calls that still run. Try again when they are done.');
  if (posted !== 0) {
    const what =
      posted > 0 ? 'Spend them, or ask the operator to move them' : 'Ask the operator to settle them';
    throw conflict(`The organization has ${toCredits(posted)} credits. ${what}, then delete it.`);
  }
  const [subscription] = await store.collection(SUBSCRIPTIONS).find({ organizationId }, { limit: 1 });
  if (subscription !== undefined && RUNNING.includes(subscription.status)) {
    throw conflict('The organization has an active subscription. Cancel it first.');
  }
}

/**
 * Removes what refers to a deleted organization: API keys that it pays for, invites, its subscription, and the members'
 * default organization. @returns the users whose credentials may have changed.
 */
export async function disband(store: Store, organization: OrganizationRecord): Promise<readonly string[]> {
  const { id: organizationId } = organization;
  const changed = new Set(getMembers(organization));
  const keys = store.collection(API_KEYS);
  for (const { id, userId } of await findAll((options) =>
    keys.find({ organizationId, status: 'active' }, options),
  )) {
    await keys.update(id, { status: 'disabled', revokedFor: 'the organization was deleted' });
    changed.add(userId);
  }
  const users = store.collection(USERS);
  for (const { id } of await findAll((options) => users.find({ organizationId }, options))) {
    await users.update(id, { organizationId: null }, { organizationId });
  }
  const invites = store.collection(SHARING_INVITES);
  const offered = { type: 'organization', resourceId: organizationId };
  await removeAll(invites, offered);
  await removeAll(store.collection(SUBSCRIPTIONS), { organizationId });
  return [...changed];
}

const PAGE = 1000;

async function findAll<R extends StoredRecord>(
  find: (options: { readonly offset: number; readonly limit: number }) => Promise<readonly R[]>,
): Promise<readonly R[]> {
  const all: R[] = [];
  for (;;) {
    const page = await find({ offset: all.length, limit: PAGE });
    all.push(...page);
    if (page.length < PAGE) return all;
  }
}
