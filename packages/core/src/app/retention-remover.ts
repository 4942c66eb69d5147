import type { FindInUse, Remover, RetentionKind } from '../operations/retention.ts';
import type { Store } from '../ports/store.ts';
import { FEATURES } from './features.ts';
import type { RetentionRunServices } from './retention-runs.ts';

/** Difference between the clocks of processes. */
const CLOCK_SKEW_MS = 60_000;

/** Deletes records of one kind that no feature uses: the only place that decides. */
export function createRemover({ store, clock, onError }: RetentionRunServices, kind: RetentionKind): Remover {
  const uses = FEATURES.flatMap(({ inUse }): readonly FindInUse[] => {
    const find = inUse?.[kind];
    return find === undefined ? [] : [find];
  });

  const findUsed = async (
    where: Store,
    ids: readonly string[],
    since?: number,
  ): Promise<ReadonlySet<string>> => {
    const used = new Set<string>();
    if (ids.length === 0) return used;
    for (const find of uses) for (const id of await find(where, ids, since)) used.add(id);
    return used;
  };

  return {
    count: async (ids) => ids.length - (await findUsed(store, ids)).size,
    async removeEach(ids, before, remove) {
      const since = clock.now() - CLOCK_SKEW_MS;
      const used = await findUsed(store, ids);
      let removed = 0;
      for (const id of ids) {
        if (used.has(id)) continue;
        const isInUse = async (where: Store) => (await findUsed(where, [id], since)).has(id);
        try {
          if (await remove(id, { before, isInUse })) removed += 1;
        } catch (error) {
          // One that fails does not keep the others.
          onError({ operation: 'retention', requestId: '', error });
        }
      }
      return removed;
    },
  };
}
