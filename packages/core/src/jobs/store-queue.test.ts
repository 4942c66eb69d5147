import { createFakeClock, createFakeIds, fakeTime, queueSuite } from '@questline/testing';
import { createMemoryStore } from '../memory/store.ts';
import { createStoreQueue } from './store-queue.ts';

queueSuite({
  name: 'on any store',
  create: async () => {
    const clock = createFakeClock();
    const store = createMemoryStore();
    const getQueue = (seed: number) => createStoreQueue({ store, clock, ids: createFakeIds(seed) });
    return { queue: getQueue(1), peers: [getQueue(2)], time: fakeTime(clock) };
  },
});
