import { USERS } from '../../identity/records.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import type { Store } from '../../ports/store.ts';
import { ORGANIZATIONS } from './records.ts';
import { SUBSCRIPTIONS, type SubscriptionRecord } from './subscriptions-records.ts';

export type Subscriber = { readonly userId: string } | { readonly organizationId: string };

export type SubscriptionInput = Pick<SubscriptionRecord, 'tier' | 'status' | 'currentPeriodEnd' | 'plan'>;

/**
 * Stores the current subscription of a user or an organization, in place of the previous one: for the host, which handles
 * the payments. The ledger grants credits separately.
 * @returns undefined for an unknown user or organization.
 */
export async function subscribe(
  services: { readonly store: Store; readonly clock: Clock; readonly ids: Ids },
  subscriber: Subscriber,
  input: SubscriptionInput,
): Promise<SubscriptionRecord | undefined> {
  const { clock, ids } = services;
  const { tier, status, currentPeriodEnd, plan } = input;
  return services.store.transaction(async (inner) => {
    const updated =
      'userId' in subscriber
        ? await inner.collection(USERS).update(subscriber.userId, { tier })
        : await inner
            .collection(ORGANIZATIONS)
            .update(subscriber.organizationId, { subscriptionTier: tier, subscriptionStatus: status });
    if (updated === undefined) return undefined;
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
