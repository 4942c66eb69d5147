import type { RetentionRule } from '../../operations/retention.ts';
import type { Store } from '../../ports/store.ts';
import { getGenerations } from './stored.ts';

const ENDED = { in: ['succeeded', 'failed', 'blocked', 'cancelled'] } as const;

export function generationRetention({ store }: { readonly store: Store }): RetentionRule {
  const generations = getGenerations(store);
  return {
    kind: 'generations',
    find: (before, limit) =>
      generations.find(
        { createdAt: { lt: before }, state: ENDED, nextCheckAt: null },
        { order: { field: 'createdAt', direction: 'asc' }, limit },
      ),
    remove: (id) => generations.take(id, { state: ENDED, nextCheckAt: null }),
  };
}
