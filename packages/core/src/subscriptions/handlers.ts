import { toCredits } from '../credits/amounts.ts';
import { paginationOf } from '../http/pages.ts';
import { requireAbility } from '../identity/abilities.ts';
import { USERS } from '../identity/records.ts';
import { ORGANIZATIONS } from '../organizations/records.ts';
import type { PipelineServices } from '../pipeline.ts';
import type { CreditLedger } from '../ports/ledger.ts';
import type { Collection, Filter, Store, StoredRecord } from '../ports/store.ts';
import { defineRoute, type Route } from '../route.ts';
import { canRead } from '../sharing/access.ts';
import { listOwnSubscriptions, listSubscriptions, type WireSubscription } from './contract.ts';
import { SUBSCRIPTIONS, type SubscriptionRecord } from './records.ts';

/** As many as a store shows at once. */
const LOOK = 1000;

export interface SubscriptionsServices extends PipelineServices {
  readonly store: Store;
  readonly ledger: CreditLedger;
}

export function subscriptionRoutes(services: SubscriptionsServices): Route[] {
  return [createListOwnSubscriptionsHandler(services), createListSubscriptionsHandler(services)];
}

/** `GET /api/subscriptions/own` */
function createListOwnSubscriptionsHandler(services: SubscriptionsServices): Route {
  const { store } = services;
  return defineRoute(listOwnSubscriptions, services, async (_input, { caller: { userId } }) => {
    const organizations = await store.collection(ORGANIZATIONS).find(canRead(userId));
    const organizationIds = organizations.map(({ id }) => id);
    const rows = await store
      .collection(SUBSCRIPTIONS)
      .find({ anyOf: [{ userId }, { organizationId: { in: organizationIds } }] });
    const shown = await Promise.all(rows.map((row) => toWire(services, row)));
    return { subscriptions: shown.map(({ userId: _, organizationId: __, ...own }) => own) };
  });
}

/** `GET /api/subscriptions` */
function createListSubscriptionsHandler(services: SubscriptionsServices): Route {
  const subscriptions = services.store.collection(SUBSCRIPTIONS);
  return defineRoute(listSubscriptions, services, async ({ query }, { caller }) => {
    requireAbility(caller, 'read', 'Subscription');
    const { page, limit, order: direction = 'desc', search = '' } = query;
    const filter = await searched(services.store, search);
    const [total, rows] = await Promise.all([
      subscriptions.count(filter),
      subscriptions.find(filter, {
        order: { field: 'createdAt', direction },
        offset: (page - 1) * limit,
        limit,
      }),
    ]);
    return {
      subscriptions: await Promise.all(rows.map((row) => toWire(services, row))),
      pagination: paginationOf(query, total),
    };
  });
}

/** Whose subscriptions a search means. */
async function searched(store: Store, search: string): Promise<Filter<SubscriptionRecord>> {
  if (search === '') return {};
  const contains = { contains: search };
  const [userIds, organizationIds] = await Promise.all([
    idsOf(store.collection(USERS), { anyOf: [{ username: contains }, { email: contains }] }),
    idsOf(store.collection(ORGANIZATIONS), { name: contains }),
  ]);
  return { anyOf: [{ userId: { in: userIds } }, { organizationId: { in: organizationIds } }] };
}

/** Of all of them, a look at a time. */
async function idsOf<R extends StoredRecord>(
  records: Collection<R>,
  filter: Filter<R>,
): Promise<readonly string[]> {
  const ids: string[] = [];
  for (;;) {
    const found = await records.find(filter, { offset: ids.length, limit: LOOK });
    ids.push(...found.map(({ id }) => id));
    if (found.length < LOOK) return ids;
  }
}

async function toWire(
  { ledger }: SubscriptionsServices,
  { id, status, tier, currentPeriodEnd, userId, organizationId }: SubscriptionRecord,
): Promise<WireSubscription> {
  const account = organizationId === undefined ? `user:${userId}` : `organization:${organizationId}`;
  const { available } = await ledger.balance(account);
  return {
    _id: id,
    status,
    tier,
    currentPeriodEnd: currentPeriodEnd === null ? null : new Date(currentPeriodEnd).toISOString(),
    creditsRemaining: toCredits(available),
    userId: userId ?? null,
    organizationId: organizationId ?? null,
  };
}
