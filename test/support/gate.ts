import type { Collection, CreditLedger, Store, StoredRecord } from '@questline/core/ports';

/** Separates a process from its shared services: while shut, no call gets through. */
export interface Gate {
  shut(): void;
  /** Lets the pending calls through. */
  open(): void;
  /** Resolves when it is open. */
  readonly opened: Promise<void>;
  readonly store: (store: Store) => Store;
  readonly ledger: (ledger: CreditLedger) => CreditLedger;
  /** The shared services behind the gate. */
  readonly shared: { readonly store: Store; readonly ledger: CreditLedger };
}

export function createGate(): Gate {
  let opened = Promise.resolve();
  let open = (): void => undefined;
  const shared: { store?: Store; ledger?: CreditLedger } = {};

  const gated = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(port, name: keyof T & string) {
        const method = port[name];
        if (typeof method !== 'function') return method;
        return async (...args: unknown[]) => {
          await opened;
          return (method as (...all: unknown[]) => unknown).apply(port, args);
        };
      },
    });

  const gatedStore = (store: Store): Store => ({
    collection: <R extends StoredRecord>(definition: Parameters<typeof store.collection<R>>[0]) =>
      gated<Collection<R>>(store.collection(definition)),
    async transaction(work, options) {
      await opened;
      return store.transaction(work, options);
    },
  });

  return {
    shut() {
      opened = new Promise((resolve) => {
        open = resolve;
      });
    },
    open: () => open(),
    get opened() {
      return opened;
    },
    store(store) {
      shared.store = store;
      return gatedStore(store);
    },
    ledger(ledger) {
      shared.ledger = ledger;
      return gated(ledger);
    },
    get shared() {
      const { store, ledger } = shared;
      if (store === undefined || ledger === undefined) throw new Error('the gate has no services yet');
      return { store, ledger };
    },
  };
}
