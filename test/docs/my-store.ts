import { createMemoryStore } from '@questline/core/memory';
import type { CollectionShape, Store } from '@questline/core/ports';

/** The store that the guide asks readers to write. */
export async function createMyStore(_options: {
  readonly collections: readonly CollectionShape[];
}): Promise<Store & { connectAgain(): Promise<Store>; close(): Promise<void> }> {
  const store = createMemoryStore();
  return { ...store, connectAgain: async () => store, close: async () => undefined };
}
