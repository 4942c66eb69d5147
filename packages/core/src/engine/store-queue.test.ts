import { createFakeClock, createFakeIds, fakeTime, queueSuite } from '@questline/testing';
import { createMemoryStore } from '../memory/store.ts';
import { createStoreQueue } from './store-queue.ts';

queueSuite({
  name: 'on any store',
  create: async () => {
    const clock = createFakeClock();
    const store = createMemoryStore();
    const queueOf = (seed: number) => createStoreQueue({ store, clock, ids: createFakeIds(seed) });
    return { queue: queueOf(1), peers: [queueOf(2)], time: fakeTime(clock) };
  },
});
