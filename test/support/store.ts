import type { Collection, Store, StoredRecord } from '@questline/core/ports';

/** A store that fails every call while `failure` is set, after `callsBeforeFailure` successful calls. */
export interface BreakableStore {
  readonly wrap: (store: Store) => Store;
  failure: Error | undefined;
  /** The remaining number of calls that succeed. */
  callsBeforeFailure: number;
}

export function createBreakableStore(): BreakableStore {
  const state: BreakableStore = { wrap, failure: undefined, callsBeforeFailure: 0 };

  async function attempt<T>(work: () => Promise<T>): Promise<T> {
    if (state.failure === undefined) return work();
    state.callsBeforeFailure -= 1;
    if (state.callsBeforeFailure < 0) throw state.failure;
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

/** A store that counts its calls, including those inside transactions. */
export interface CountingStore {
  readonly wrap: (store: Store) => Store;
  /** Since the last reset. */
  calls: number;
}

export function createCountingStore(): CountingStore {
  const state: CountingStore = { wrap, calls: 0 };

  const counted = <R extends StoredRecord>(collection: Collection<R>): Collection<R> =>
    new Proxy(collection, {
      get(target, verb: keyof Collection<R>) {
        const method = target[verb] as (...args: unknown[]) => unknown;
        return (...args: unknown[]) => {
          state.calls += 1;
          return method.apply(target, args);
        };
      },
    });

  function wrap(store: Store): Store {
    return {
      collection: (definition) => counted(store.collection(definition)),
      transaction: (work, options) => store.transaction((inner) => work(wrap(inner)), options),
    };
  }

  return state;
}
