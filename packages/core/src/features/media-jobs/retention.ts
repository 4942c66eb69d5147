import type { RemovalCheck, RetentionRule } from '../../operations/retention.ts';
import { createTimedRetention } from '../../operations/timed-retention.ts';
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
    ...createTimedRetention(store, { collection: generations, time: 'createdAt', where: ENDED, remove }),
  };
}
