import type { Collection, Store, StoredRecord } from '@questline/core/ports';

/** A store of which one call fails. */
export interface FailingStore {
  readonly wrap: (store: Store) => Store;
  /** Lets the next call of a verb of a collection fail. @param matches leaves out other calls, by their arguments. */
  failOnce(
    collection: { readonly name: string },
    verb: keyof Collection<StoredRecord>,
    error: Error,
    matches?: (args: readonly unknown[]) => boolean,
  ): void;
  /** Whether the call has come. */
  readonly hasFailed: boolean;
}

export function createFailingStore(): FailingStore {
  let next:
    | { readonly error: Error; fails(name: string, verb: string, args: readonly unknown[]): boolean }
    | undefined;

  const wrap = (store: Store): Store => ({
    collection(definition) {
      return new Proxy(store.collection(definition), {
        get(target, verb: keyof Collection<StoredRecord>) {
          const method = target[verb] as (...args: unknown[]) => Promise<unknown>;
          return async (...args: unknown[]) => {
            if (next?.fails(definition.name, verb, args) !== true) return method.apply(target, args);
            const { error } = next;
            next = undefined;
            throw error;
          };
        },
      });
    },
    transaction: (work, options) => store.transaction((inner) => work(wrap(inner)), options),
  });

  return {
    wrap,
    failOnce({ name }, verb, error, matches = () => true) {
      next = {
        error,
        fails: (givenName, givenVerb, args) => givenName === name && givenVerb === verb && matches(args),
      };
    },
    get hasFailed() {
      return next === undefined;
    },
  };
}
