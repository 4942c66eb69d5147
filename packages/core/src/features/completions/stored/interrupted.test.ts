import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../../memory/store.ts';
import type { EventLog } from '../../../ports/event-log.ts';
import type { Store } from '../../../ports/store.ts';
import { createStoredSweep, failInterrupted, isInterrupted } from './interrupted.ts';
import { STALE_MS, STORED_COMPLETIONS, type StoredCompletion } from './records.ts';

const eventLog = { read: async () => [] } as unknown as EventLog;

function setUp(change: (store: Store) => Store = (store) => store) {
  const clock = createFakeClock();
  const plain = createMemoryStore();
  const completions = plain.collection(STORED_COMPLETIONS);
  const now = clock.now();
  return {
    ...{ clock, completions, now },
    services: { store: change(plain), eventLog, clock },
    async add(id: string, fields: Partial<StoredCompletion> = {}): Promise<StoredCompletion> {
      const record: StoredCompletion = {
        ...{ id, ownerId: 'ada', requestId: id, status: 'running', model: 'm' },
        ...{ createdAt: now, heartbeatAt: now, expiresAt: now + 86_400_000 },
        ...fields,
      };
      await completions.insert(record);
      return record;
    },
  };
}

const FAILED = {
  status: 'failed',
  outcome: { error: { message: 'The process that answered has stopped.' } },
};

describe('interrupted completion', () => {
  it('is one that runs without a sign of its process', async () => {
    const { add, now } = setUp();
    const running = await add('a');
    const check = (heartbeatAt: number, status: 'running' | 'done' = 'running') =>
      isInterrupted({ ...running, heartbeatAt, status }, now);
    expect(check(now - STALE_MS)).toBe(true);
    expect(check(now - STALE_MS + 1)).toBe(false);
    expect(check(now - STALE_MS, 'done')).toBe(false);
  });

  it('fails once, and not if its process is back', async () => {
    const { add, completions, now, services } = setUp();
    const stale = await add('a', { heartbeatAt: now - STALE_MS });
    const back = await add('b', { heartbeatAt: now - STALE_MS + 1 });
    const done = await add('c', { heartbeatAt: now - STALE_MS, status: 'done' });
    expect(await failInterrupted(services, stale)).toMatchObject(FAILED);
    for (const one of [back, done]) {
      expect(await failInterrupted(services, one)).toBeUndefined();
      expect(await completions.get(one.id)).toEqual(one);
    }
  });
});

describe('sweep of completions', () => {
  it('runs each minute, ends interrupted ones and deletes expired ones', async () => {
    const { add, completions, now, services } = setUp();
    await add('stale', { heartbeatAt: now - STALE_MS });
    await add('running');
    await add('done', { status: 'done', heartbeatAt: now - STALE_MS });
    await add('expired', { status: 'done', expiresAt: now });
    await add('kept', { status: 'done', expiresAt: now + 1 });
    const { everyMs, name, run } = createStoredSweep(services);
    expect([name, everyMs]).toEqual(['sweep-completions', 60_000]);
    await run();
    const left = await completions.find({}, { order: { field: 'id', direction: 'asc' } });
    expect(left.map(({ id, status }) => [id, status])).toEqual([
      ['done', 'done'],
      ['kept', 'done'],
      ['running', 'running'],
      ['stale', 'failed'],
    ]);
  });

  it('ends at most 200 a time', async () => {
    const { add, completions, now, services } = setUp();
    for (let at = 0; at < 201; at += 1) await add(`c${at}`, { heartbeatAt: now - STALE_MS });
    await createStoredSweep(services).run();
    expect(await completions.count({ status: 'running' })).toBe(1);
  });

  it.each(['update', 'find', 'removeWhere'] as const)('rejects while storage is away: %s', async (verb) => {
    const { add, now, services } = setUp((store) => ({
      ...store,
      collection: (definition) => ({
        ...store.collection(definition),
        [verb]: () => Promise.reject(new Error('away')),
      }),
    }));
    await add('stale', { heartbeatAt: now - STALE_MS });
    await expect(createStoredSweep(services).run()).rejects.toThrow('away');
  });
});
