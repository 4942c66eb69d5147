import { createStoreEventLog, createStoreQueue } from '@questline/core/internal';
import {
  createMemoryEventLog,
  createMemoryExpiringRecords,
  createMemoryLedger,
  createMemoryLimiter,
  createMemoryMailer,
  createMemoryObjects,
  createMemoryPublisher,
  createMemoryQueue,
  createMemoryStore,
  createMemoryVectors,
} from '@questline/core/memory';
import type { CreditLedger } from '@questline/core/ports';
import {
  createFakeClock,
  createFakeIds,
  eventLogSuite,
  expiringSuite,
  fakeTime,
  ledgerSuite,
  limiterSuite,
  mailerSuite,
  modelsSuite,
  objectsSuite,
  publisherSuite,
  queueSuite,
  storeSuite,
  vectorsSuite,
} from '@questline/testing';
import { servedObjects } from '../../../test/support/objects.ts';
import { getStage } from './stage.ts';

const name = 'in memory';

storeSuite({
  name,
  create: async () => ({ store: createMemoryStore(), time: fakeTime(createFakeClock()) }),
});

ledgerSuite({
  name,
  create: async () => {
    const clock = createFakeClock();
    return { ledger: createMemoryLedger({ clock }), time: fakeTime(clock) };
  },
});

ledgerSuite({
  name: 'in memory, without caps of budgets',
  create: async () => {
    const clock = createFakeClock();
    const { capUsage: _, ...sound } = createMemoryLedger({ clock });
    // Such a ledger may ignore them.
    const ledger: CreditLedger = {
      ...sound,
      hold: ({ caps: __, ...request }, options) => sound.hold(request, options),
    };
    return { ledger, time: fakeTime(clock) };
  },
});

limiterSuite({
  name,
  create: async () => ({ limiter: createMemoryLimiter(), time: fakeTime(createFakeClock()) }),
});

expiringSuite({
  name,
  create: async () => {
    const clock = createFakeClock();
    return { records: createMemoryExpiringRecords({ clock }), time: fakeTime(clock) };
  },
});

queueSuite({
  name,
  create: async () => {
    const clock = createFakeClock();
    return { queue: createMemoryQueue({ clock, ids: createFakeIds() }), time: fakeTime(clock) };
  },
});

queueSuite({
  name: 'on a store in memory',
  create: async () => {
    const clock = createFakeClock();
    const ids = createFakeIds();
    return {
      queue: createStoreQueue({ store: createMemoryStore(), clock, ids }),
      time: fakeTime(clock),
    };
  },
});

publisherSuite({
  name,
  create: async () => ({ publisher: createMemoryPublisher(), time: fakeTime(createFakeClock()) }),
});

eventLogSuite({
  name,
  create: async () => {
    const clock = createFakeClock();
    return { eventLog: createMemoryEventLog({ clock }), time: fakeTime(clock) };
  },
});

eventLogSuite({
  name: 'on a store in memory',
  create: async () => {
    const clock = createFakeClock();
    return {
      eventLog: createStoreEventLog({ store: createMemoryStore(), clock }),
      time: fakeTime(clock),
    };
  },
});

mailerSuite({
  name,
  create: async () => {
    const mailer = createMemoryMailer();
    return { mailer, received: async () => mailer.sent, time: fakeTime(createFakeClock()) };
  },
});

objectsSuite({
  name,
  create: async () => {
    const clock = createFakeClock();
    const time = fakeTime(clock);
    return { ...servedObjects(createMemoryObjects(), clock), time };
  },
});

modelsSuite({
  name: 'scripted',
  create: async () => ({
    stage: async (scenario) => getStage(scenario),
    time: fakeTime(createFakeClock()),
  }),
});

vectorsSuite({
  name,
  create: async () => ({ vectors: createMemoryVectors(), time: fakeTime(createFakeClock()) }),
});
