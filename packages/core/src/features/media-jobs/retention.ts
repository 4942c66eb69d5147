import { createOwnerRetention } from '../../operations/owner-retention.ts';
import type { RetentionRule } from '../../operations/retention.ts';
import type { Store } from '../../ports/store.ts';
import { getGenerations } from './stored.ts';

/** Ended, and no worker maintains it. */
const ENDED = { state: { in: ['succeeded', 'failed', 'blocked', 'cancelled'] }, nextCheckAt: null } as const;

export function generationRetention({ store }: { readonly store: Store }): RetentionRule {
  const generations = getGenerations(store);
  const remove = (id: string) => generations.take(id, ENDED);
  return {
    kind: 'generations',
    byAge: {
      count: (before) => generations.count({ createdAt: { lt: before }, ...ENDED }),
      find: (before, limit) =>
        generations.find(
          { createdAt: { lt: before }, ...ENDED },
          { order: { field: 'createdAt', direction: 'asc' }, limit },
        ),
      remove,
    },
    byGroup: createOwnerRetention(store, {
      count: (ownerId, createdAt) => generations.count({ ownerId, createdAt, ...ENDED }),
      find: (ownerId, createdAt, page) =>
        generations.find(
          { ownerId, createdAt, ...ENDED },
          { order: { field: 'createdAt', direction: 'desc' }, ...page },
        ),
      remove,
    }),
  };
}
