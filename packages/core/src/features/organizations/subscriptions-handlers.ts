import { canRead } from '../../access/access.ts';
import { toCredits } from '../../credits/amounts.ts';
import { requireAbility } from '../../identity/abilities.ts';
import { USERS } from '../../identity/records.ts';
import { findNumberedPage } from '../../operations/find-page.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import { createTotals } from '../../operations/totals.ts';
import type { CreditLedger } from '../../ports/ledger.ts';
import type { Collection, Filter, Store, StoredRecord } from '../../ports/store.ts';
import { ORGANIZATIONS } from './records.ts';
import { listOwnSubscriptions, listSubscriptions, type WireSubscription } from './subscriptions-contract.ts';
import { SUBSCRIPTIONS, type SubscriptionRecord } from './subscriptions-records.ts';

/** Page size: the maximum of a store. */
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
  const count = createTotals<SubscriptionRecord>(services);
  return defineRoute(listSubscriptions, services, async ({ query }, { caller }) => {
    requireAbility(caller, 'administer', 'Subscription');
    const { order: direction = 'desc', search = '' } = query;
    const filter = await searched(services.store, search);
    const { rows, pagination } = await findNumberedPage(
      subscriptions,
      filter,
      query,
      { field: 'createdAt', direction },
      count,
    );
    return {
      subscriptions: await Promise.all(rows.map((row) => toWire(services, row))),
      pagination,
    };
  });
}

/** Finds the subscribers that match a search. */
async function searched(store: Store, search: string): Promise<Filter<SubscriptionRecord>> {
  if (search === '') return {};
  const contains = { contains: search };
  const [userIds, organizationIds] = await Promise.all([
    getIds(store.collection(USERS), { anyOf: [{ username: contains }, { email: contains }] }),
    getIds(store.collection(ORGANIZATIONS), { name: contains }),
  ]);
  return { anyOf: [{ userId: { in: userIds } }, { organizationId: { in: organizationIds } }] };
}

/** Iterates over all of them, page by page. */
async function getIds<R extends StoredRecord>(
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
