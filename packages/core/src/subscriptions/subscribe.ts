import { USERS } from '../identity/records.ts';
import { ORGANIZATIONS } from '../organizations/records.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { Store } from '../ports/store.ts';
import { SUBSCRIPTIONS, type SubscriptionRecord } from './records.ts';

export type Subscriber = { readonly userId: string } | { readonly organizationId: string };

export type SubscriptionTerms = Pick<SubscriptionRecord, 'tier' | 'status' | 'currentPeriodEnd' | 'plan'>;

/**
 * Writes down what a user or an organization has subscribed to now, in place of what it had: for the host, which takes the
 * payments. Credits are granted apart from it, by the ledger.
 * @returns undefined when there is no such user or organization.
 */
export async function subscribe(
  services: { readonly store: Store; readonly clock: Clock; readonly ids: Ids },
  subscriber: Subscriber,
  terms: SubscriptionTerms,
): Promise<SubscriptionRecord | undefined> {
  const { clock, ids } = services;
  const { tier, status, currentPeriodEnd, plan } = terms;
  return services.store.transaction(async (inner) => {
    const told =
      'userId' in subscriber
        ? await inner.collection(USERS).update(subscriber.userId, { tier })
        : await inner
            .collection(ORGANIZATIONS)
            .update(subscriber.organizationId, { subscriptionTier: tier, subscriptionStatus: status });
    if (told === undefined) return undefined;
    const subscriptions = inner.collection(SUBSCRIPTIONS);
    const [known] = await subscriptions.find(subscriber, { limit: 1 });
    if (known !== undefined) return subscriptions.update(known.id, { tier, status, currentPeriodEnd, plan });
    const record = {
      id: ids.next(),
      ...subscriber,
      tier,
      status,
      currentPeriodEnd,
      plan,
      createdAt: clock.now(),
    };
    await subscriptions.insert(record);
    return record;
  });
}
