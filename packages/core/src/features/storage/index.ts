import type { Store } from '../../ports/store.ts';
import { eraseUsage, STORAGE_USAGE } from './usage.ts';

export const storage = {
  name: 'storage',
  collections: [STORAGE_USAGE],
  personal: ({ store }: { readonly store: Store }) => ({
    eraseTraces: (userId: string) => eraseUsage(store, userId),
  }),
};
