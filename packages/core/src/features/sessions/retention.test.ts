import { createFakeClock, createFakeIds } from '@questline/testing';
import { expect, it } from 'vitest';
import { withLateWrites } from '../../../test/late-store.ts';
import { createStoreQueue } from '../../jobs/store-queue.ts';
import { createMemoryStore } from '../../memory/store.ts';
import { SESSIONS } from './records.ts';
import { sessionRetention } from './retention.ts';

it.each([
  ['deletes an old session', 6, false, true],
  ['keeps a younger one', 5, false, false],
  ['keeps one in use', 6, true, false],
] as const)('%s', async (_, before, isUsed, isDeleted) => {
  const store = createMemoryStore();
  const clock = createFakeClock();
  const queue = createStoreQueue({ store, clock, ids: createFakeIds() });
  const session = { id: 's', ownerId: 'ada', name: 'n', firstCreated: 0, lastUpdated: 5 };
  await store.collection(SESSIONS).insert(session);
  const rule = sessionRetention({ store: withLateWrites(store), queue, clock, questEvents: {} as never });
  const remove = rule.byAge && 'remove' in rule.byAge ? rule.byAge.remove : undefined;
  const isInUse = async () => isUsed;
  expect(await remove?.('s', { before, isInUse })).toBe(isDeleted);
  expect(await store.collection(SESSIONS).count({})).toBe(isDeleted ? 0 : 1);
  expect(await remove?.('unknown', { before, isInUse })).toBe(false);
});
