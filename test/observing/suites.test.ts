import { createServices, type Ports } from '@questline/core';
import { createMemoryLedger, createMemoryPorts, createMemoryQueue } from '@questline/core/memory';
import type { Observer } from '@questline/core/ports';
import {
  createFakeClock,
  createFakeIds,
  fakeTime,
  ledgerSuite,
  modelsSuite,
  queueSuite,
} from '@questline/testing';
import { getStage } from '../../packages/testing/test/stage.ts';

/** Implements every callback and always throws. */
const broken: Observer = {
  credit() {
    throw new Error('broken');
  },
  modelCall: () => ({
    began() {
      throw new Error('broken');
    },
    ended() {
      throw new Error('broken');
    },
  }),
  getTraceContext: () => ({ traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }),
};

function observed(ports: Partial<Ports>) {
  const settings = { jwtSecret: 'a'.repeat(64), observers: [broken] };
  return createServices({ ...createMemoryPorts(), models: [], ...ports }, settings);
}

const name = 'observed';

ledgerSuite({
  name,
  create: async () => {
    const clock = createFakeClock();
    const { ledger } = observed({ ledger: createMemoryLedger({ clock }), clock });
    return { ledger, time: fakeTime(clock) };
  },
});

queueSuite({
  name,
  create: async () => {
    const clock = createFakeClock();
    const { queue } = observed({ queue: createMemoryQueue({ clock, ids: createFakeIds() }), clock });
    return { queue, time: fakeTime(clock) };
  },
});

modelsSuite({
  name,
  create: async () => ({
    async stage(scenario) {
      const stage = getStage(scenario);
      const [provider = stage.provider] = observed({ models: [stage.provider] }).providers;
      return { ...stage, provider };
    },
    time: fakeTime(createFakeClock()),
  }),
});
