import { createOwnerRetention } from '../../operations/owner-retention.ts';
import type { RemovalCheck, RetentionRule } from '../../operations/retention.ts';
import type { Store } from '../../ports/store.ts';
import { getGenerations } from './stored.ts';

/** Ended, and no worker maintains it. */
const ENDED = { state: { in: ['succeeded', 'failed', 'blocked', 'cancelled'] }, nextCheckAt: null } as const;

export function generationRetention({ store }: { readonly store: Store }): RetentionRule {
  const generations = getGenerations(store);
  const remove = async (id: string, { before }: RemovalCheck): Promise<boolean> =>
    (await generations.take(id, { createdAt: { lt: before }, ...ENDED })) !== undefined;
  return {
    kind: 'generations',
    byAge: {
      async find(before, limit, after) {
        const old = await generations.find(
          { createdAt: { lt: before }, ...ENDED },
          {
            order: { field: 'createdAt', direction: 'asc' },
            limit,
            ...(after !== undefined && { after: { value: after.time, id: after.id } }),
          },
        );
        return old.map(({ id, createdAt }) => ({ id, time: createdAt }));
      },
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
