import { setImmediate as turn } from 'node:timers/promises';
import type { Services } from '@questline/core';
import { GENERATIONS, getGenerations } from '@questline/core/internal';
import type { Store } from '@questline/core/ports';
import { createGenerationApp, createVideoStudio } from './generations.ts';

/** Lets other work of the process go on. */
export const pause = async () => {
  for (let count = 0; count < 12; count += 1) await turn();
};

/** An app without a worker. @param change of its services. */
export async function openGenerationRequests(
  change: (own: Services) => Partial<Services> = () => ({}),
  options: Parameters<typeof createGenerationApp>[1] = {},
) {
  const app = await createGenerationApp(createVideoStudio(), {
    ...options,
    started: false,
    services: (own) => ({ ...own, ...change(own) }),
  });
  const generations = getGenerations(app.services.store);
  return { ...app, list: () => generations.find({}), generations };
}

/** A store that handles generations in another way. */
export function changeStored(
  store: Store,
  change: (generations: ReturnType<Store['collection']>) => object,
): Store {
  return {
    ...store,
    collection(definition) {
      const records = store.collection(definition);
      return definition.name === GENERATIONS.name ? { ...records, ...change(records as never) } : records;
    },
  };
}

/** A store whose guarded writes of generations take their time. */
export const slowWrites = (store: Store): Store =>
  changeStored(store, ({ take, update }) => ({
    async take(...given: Parameters<typeof take>) {
      await pause();
      return take(...given);
    },
    async update(...given: Parameters<typeof update>) {
      await pause();
      return update(...given);
    },
  }));
