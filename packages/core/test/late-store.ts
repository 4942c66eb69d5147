import type { Collection, Store, StoredRecord } from '../src/ports/store.ts';

const WRITES: ReadonlySet<string> = new Set(['insert', 'update', 'add', 'take', 'removeWhere']);

/** A store whose writes begin one turn of the event loop later, so that a caller that does not wait for them is seen. */
export function withLateWrites(store: Store): Store {
  const late = <R extends StoredRecord>(collection: Collection<R>): Collection<R> =>
    new Proxy(collection, {
      get(target, verb: keyof Collection<R>) {
        const method = target[verb] as (...given: unknown[]) => Promise<unknown>;
        if (!WRITES.has(verb)) return method;
        return async (...given: unknown[]) => {
          await new Promise(setImmediate);
          return method.apply(target, given);
        };
      },
    });
  return {
    ...store,
    collection: (definition) => late(store.collection(definition)),
    transaction: (work, options) => store.transaction((inner) => work(withLateWrites(inner)), options),
  };
}
