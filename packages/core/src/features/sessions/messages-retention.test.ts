import { describe, expect, it } from 'vitest';
import { withLateWrites } from '../../../test/late-store.ts';
import { createMemoryStore } from '../../memory/store.ts';
import type { RetentionBounds } from '../../operations/retention.ts';
import { STORAGE_USAGE } from '../storage/usage.ts';
import { messageRetention } from './messages-retention.ts';
import { MESSAGES, SESSIONS, type SessionRecord } from './records.ts';
import { listSessionGroups } from './retention.ts';

const SESSION: SessionRecord = { id: 's', ownerId: 'ada', name: 'n', firstCreated: 0, lastUpdated: 0 };

/** @param times of the messages of a session. Another session has messages of the times 1 to 20. */
async function setUp(times: readonly number[], session: Partial<SessionRecord> = {}) {
  const store = createMemoryStore();
  await store.collection(SESSIONS).insert({ ...SESSION, ...session });
  const messages = store.collection(MESSAGES);
  const common = { ownerId: 'ada', role: 'user', content: '', bytes: 10 } as const;
  for (const [at, createdAt] of times.entries()) {
    // In another order than the times.
    const id = `${(at * 3) % 8}`;
    await messages.insert({ ...common, id, sessionId: 's', createdAt });
  }
  for (let createdAt = 1; createdAt <= 20; createdAt += 1)
    await messages.insert({ ...common, id: `!other ${createdAt}`, sessionId: 't', createdAt });
  await store.collection(STORAGE_USAGE).insert({ id: 'ada:sessions', bytes: 1000 });
  const { byGroup } = messageRetention({ store: withLateWrites(store) });
  const count = (bounds: RetentionBounds) => byGroup.count('s', bounds, {} as never);
  const trim = (bounds: RetentionBounds, limit = 500) => byGroup.trim('s', bounds, limit, {} as never);
  const read = async () => ({
    times: (await messages.find({ sessionId: 's' }))
      .map(({ createdAt }) => createdAt)
      .toSorted((a, b) => a - b),
    others: await messages.count({ sessionId: 't' }),
    bytes: (await store.collection(STORAGE_USAGE).get('ada:sessions'))?.bytes,
    enrichedAt: (await store.collection(SESSIONS).get('s'))?.enrichedAt,
  });
  return { count, trim, read };
}

const TIMES = [1, 1, 3, 3, 5, 5, 7, 7];

describe('old messages of a session', () => {
  it.each<[string, RetentionBounds, readonly number[]]>([
    ['before a time', { before: 5 }, [5, 5, 7, 7]],
    ['before a later time, but not those of the last turn', { before: 9 }, [7, 7]],
    ['beyond a number, and of whole turns only', { surplus: { newest: 3, before: 100 } }, [5, 5, 7, 7]],
    ['beyond one', { surplus: { newest: 1, before: 100 } }, [7, 7]],
    ['beyond a number that was not reached', { surplus: { newest: 9, before: 100 } }, TIMES],
    ['beyond a number, if they are old enough', { surplus: { newest: 2, before: 3 } }, TIMES.slice(2)],
    ['of the later of two bounds', { before: 5, surplus: { newest: 6, before: 100 } }, [5, 5, 7, 7]],
    ['before a time, where they are few', { before: 3, surplus: { newest: 9, before: 100 } }, TIMES.slice(2)],
  ])('are those %s', async (_, bounds, left) => {
    const { count, trim, read } = await setUp(TIMES);
    const old = TIMES.length - left.length;
    expect(await count(bounds)).toBe(old);
    expect(await trim(bounds)).toBe(old);
    expect(await read()).toEqual({ times: left, others: 20, bytes: 1000 - old * 10 });
    expect(await trim(bounds)).toBe(0);
  });

  it('are deleted in steps, and are no longer counted by the enrichment', async () => {
    const { trim, read } = await setUp(TIMES, { enrichedAt: 5 });
    expect(await trim({ before: 9 }, 4)).toBe(4);
    const { times, enrichedAt } = await read();
    expect([times, enrichedAt]).toEqual([[5, 5, 7, 7], 1]);
    expect(await trim({ before: 9 }, 4)).toBe(2);
    const few = await setUp(TIMES, { enrichedAt: 2 });
    await few.trim({ before: 9 });
    expect((await few.read()).enrichedAt).toBe(0);
  });

  it('are none in an empty session', async () => {
    const { count, trim } = await setUp([]);
    const bounds = { before: 9, surplus: { newest: 1, before: 9 } };
    expect([await count(bounds), await trim(bounds)]).toEqual([0, 0]);
  });
});

it('lists sessions in pages, without conversations of a wire', async () => {
  const store = createMemoryStore();
  for (const id of ['a', 'b', 'c', 'd'])
    await store.collection(SESSIONS).insert({ ...SESSION, id, ...(id === 'b' && { isConversation: true }) });
  const list = listSessionGroups(store);
  expect(await list(undefined, 2)).toEqual({ groups: ['a'], next: 'b' });
  expect(await list('b', 2)).toEqual({ groups: ['c', 'd'], next: 'd' });
  expect(await list('d', 2)).toEqual({ groups: [] });
  expect(await list('b', 3)).toEqual({ groups: ['c', 'd'] });
});
