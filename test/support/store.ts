import type { Collection, Store, StoredRecord } from '@questline/core';

/** A store that fails every call while `failure` is set and `patience` calls have been let through. */
export interface BreakableStore {
  readonly wrap: (store: Store) => Store;
  failure: Error | undefined;
  /** So many calls still succeed. */
  patience: number;
}

export function createBreakableStore(): BreakableStore {
  const state: BreakableStore = { wrap, failure: undefined, patience: 0 };

  async function attempt<T>(work: () => Promise<T>): Promise<T> {
    if (state.failure === undefined) return work();
    state.patience -= 1;
    if (state.patience < 0) throw state.failure;
    return work();
  }

  const guarded = <R extends StoredRecord>(collection: Collection<R>): Collection<R> =>
    new Proxy(collection, {
      get(target, verb: keyof Collection<R>) {
        const method = target[verb] as (...args: unknown[]) => Promise<unknown>;
        return (...args: unknown[]) => attempt(() => method.apply(target, args));
      },
    });

  function wrap(store: Store): Store {
    return {
      collection: (definition) => guarded(store.collection(definition)),
      transaction: (work, options) => attempt(() => store.transaction((inner) => work(wrap(inner)), options)),
    };
  }

  return state;
}
