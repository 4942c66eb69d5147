import { createOwnerRetention } from '../../operations/owner-retention.ts';
import type { RetentionRule } from '../../operations/retention.ts';
import { removeWhere } from '../../ports/remove-where.ts';
import type { Store } from '../../ports/store.ts';
import { ANALYTICS_EVENTS } from './records.ts';

export function analyticsRetention({ store }: { readonly store: Store }): RetentionRule {
  const events = store.collection(ANALYTICS_EVENTS);
  return {
    kind: 'analytics',
    byAge: {
      count: (before) => events.count({ createdAt: { lt: before } }),
      removeBefore: (before, limit) => removeWhere(events, { createdAt: { lt: before } }, { limit }),
    },
    byGroup: createOwnerRetention(store, {
      count: (userId, createdAt) => events.count({ userId, createdAt }),
      find: (userId, createdAt, page) =>
        events.find({ userId, createdAt }, { order: { field: 'createdAt', direction: 'desc' }, ...page }),
      removeAll: (ids) => removeWhere(events, { id: { in: ids } }),
    }),
  };
}
