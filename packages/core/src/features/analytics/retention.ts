import type { RetentionRule } from '../../operations/retention.ts';
import type { Store } from '../../ports/store.ts';
import { ANALYTICS_EVENTS } from './records.ts';

export function analyticsRetention({ store }: { readonly store: Store }): RetentionRule {
  const events = store.collection(ANALYTICS_EVENTS);
  return {
    kind: 'analytics',
    find: (before, limit) =>
      events.find({ createdAt: { lt: before } }, { order: { field: 'createdAt', direction: 'asc' }, limit }),
    remove: (id) => events.take(id),
  };
}
