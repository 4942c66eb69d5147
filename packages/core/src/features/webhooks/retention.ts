import { createOwnerRetention, listRecords } from '../../operations/owner-retention.ts';
import type { RetentionRule } from '../../operations/retention.ts';
import { removeWhere } from '../../ports/remove-where.ts';
import type { Filter, Store } from '../../ports/store.ts';
import { WEBHOOK_DELIVERIES, WEBHOOKS, type WebhookDeliveryRecord } from './records.ts';

/** Deliveries can be listed and replayed for this time, unless the host chooses another. */
const DEFAULT_DAYS = 7;
/** A delivery that is still pending, also by a replay, is kept for this time longer. */
const PENDING_MS = 30 * 86_400_000;

const ENDED = { status: { in: ['delivered', 'failed'] } } as const;

/** Deletes old deliveries, also those of deleted webhooks. */
export function deliveryRetention({ store }: { readonly store: Store }): RetentionRule {
  const deliveries = store.collection(WEBHOOK_DELIVERIES);
  return {
    kind: 'deliveries',
    defaultDays: DEFAULT_DAYS,
    byAge: {
      count: (before) => deliveries.count(olderThan(before)),
      removeBefore: (before, limit) => removeWhere(deliveries, olderThan(before), { limit }),
    },
    byGroup: createOwnerRetention(store, {
      listOwners: listRecords(store.collection(WEBHOOKS)),
      count: (webhookId, createdAt) => deliveries.count({ webhookId, createdAt, ...ENDED }),
      find: (webhookId, createdAt, page) =>
        deliveries.find(
          { webhookId, createdAt, ...ENDED },
          { order: { field: 'createdAt', direction: 'desc' }, ...page },
        ),
      removeAll: (ids) => removeWhere(deliveries, { id: { in: ids }, ...ENDED }),
    }),
  };
}

function olderThan(before: number): Filter<WebhookDeliveryRecord> {
  return { createdAt: { lt: before }, anyOf: [ENDED, { createdAt: { lt: before - PENDING_MS } }] };
}
