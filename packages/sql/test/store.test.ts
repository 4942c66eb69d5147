import { createFakeClock, fakeTime, storeSuite, storeSuiteCollections } from '@questline/testing';
import { describe } from 'vitest';
import { createSqlStore } from '../src/index.ts';
import { ENGINES } from './engines.ts';
import { shareDatabase } from './shared.ts';

describe.each(ENGINES)('$name', (engine) => {
  const shared = shareDatabase(engine, storeSuiteCollections);

  storeSuite({
    name: engine.name,
    create: async () => ({
      store: createSqlStore(await shared.fresh()),
      peers: [createSqlStore(shared.peer())],
      time: fakeTime(createFakeClock()),
    }),
  });
});
