import type { RetentionRule } from '../../operations/retention.ts';
import { removeWhere } from '../../ports/remove-where.ts';
import type { Store } from '../../ports/store.ts';
import { WEBHOOK_DELIVERIES } from './records.ts';

/** Deliveries can be listed and replayed for this time, unless the host chooses another. */
const DEFAULT_DAYS = 7;

/** Deletes old deliveries, also those of deleted webhooks. */
export function deliveryRetention({ store }: { readonly store: Store }): RetentionRule {
  const deliveries = store.collection(WEBHOOK_DELIVERIES);
  return {
    kind: 'deliveries',
    defaultDays: DEFAULT_DAYS,
    byAge: {
      count: (before) => deliveries.count({ createdAt: { lt: before } }),
      removeBefore: (before, limit) => removeWhere(deliveries, { createdAt: { lt: before } }, { limit }),
    },
  };
}
