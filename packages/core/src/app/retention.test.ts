import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { ANALYTICS_EVENTS } from '../features/analytics/records.ts';
import { MESSAGES, SESSIONS } from '../features/sessions/records.ts';
import { USERS, type UserRecord } from '../identity/records.ts';
import { createMemoryLedger } from '../memory/ledger.ts';
import { createMemoryPorts } from '../memory/ports.ts';
import type { NewestSettings, RetentionSettings } from '../operations/retention.ts';
import type { Collection } from '../ports/store.ts';
import { createServices } from './create-services.ts';
import { applyRetention, createRetentionSweep } from './retention.ts';
import type { Settings } from './settings.ts';

const DAY_MS = 86_400_000;
const DEFAULTS = [
  { kind: 'responses', days: 30, newest: undefined, records: 0 },
  { kind: 'deliveries', days: 7, newest: undefined, records: 0 },
];

interface Setting {
  readonly retention?: RetentionSettings;
  readonly keepNewest?: NewestSettings;
  readonly chargeArchive?: NonNullable<Settings['chargeArchive']>;
  /** Reads of sessions fail. */
  readonly isAway?: boolean;
}

/** Services with client events of these ages in days, the same ones of two users. */
async function setUp(ages: readonly number[], kept: Setting, removeWhere?: Collection<never>['removeWhere']) {
  const clock = createFakeClock();
  const incidents: unknown[] = [];
  const ports = { ...createMemoryPorts(), clock, ledger: createMemoryLedger({ clock }), models: [] };
  const { store } = ports;
  const collection: typeof store.collection = (definition) => {
    const fail = () => Promise.reject(new Error('away'));
    const usual = store.collection(definition);
    if (kept.isAway === true && definition.name === 'sessions') return { ...usual, find: fail };
    const isReplaced = removeWhere !== undefined && definition.name === ANALYTICS_EVENTS.name;
    return isReplaced ? { ...usual, removeWhere } : usual;
  };
  const { isAway: _, ...settings } = kept;
  const services = createServices(
    { ...ports, store: { ...store, collection } },
    {
      ...{ jwtSecret: 'a'.repeat(64), onError: ({ error }) => void incidents.push(error) },
      ...settings,
    },
  );
  const events = services.store.collection(ANALYTICS_EVENTS);
  const now = clock.now();
  for (const userId of ['a', 'b']) {
    await services.store.collection(USERS).insert({ id: userId, email: userId } as UserRecord);
    for (const [at, age] of ages.entries()) {
      const id = `${userId}${at}`.padStart(24, '0');
      await events.insert({ ...{ id, userId, event: 'x', properties: {} }, createdAt: now - age * DAY_MS });
    }
  }
  const left = async () =>
    (await events.find({ userId: 'a' }))
      .map(({ createdAt }) => (now - createdAt) / DAY_MS)
      .sort((a, b) => a - b);
  return { services, incidents, left, clock };
}

const analytics = (days: number | undefined, newest: number | undefined, records: number) => ({
  ...{ kind: 'analytics', days, newest, records },
});

describe('retention', () => {
  it.each<[string, Setting, readonly number[], ReturnType<typeof analytics>]>([
    ['by age', { retention: { analytics: 3 } }, [0, 0.5, 2, 3], analytics(3, undefined, 4)],
    ['by number', { keepNewest: { analytics: 1 } }, [0, 0.5], analytics(undefined, 1, 8)],
    [
      'by both',
      { retention: { analytics: 3 }, keepNewest: { analytics: 3 } },
      [0, 0.5, 2],
      analytics(3, 3, 6),
    ],
  ])('%s counts in a dry run what it deletes', async (_name, kept, expected, result) => {
    const ages = [0, 0.5, 2, 3, 4, 5];
    const { services, left } = await setUp(ages, kept);
    const results = expect.arrayContaining([...DEFAULTS, result]);
    const counted = await applyRetention(services, { isDryRun: true });
    expect([counted, await left()]).toEqual([results, ages]);
    expect([await applyRetention(services, { isDryRun: false }), await left()]).toEqual([counted, expected]);
    const again = await applyRetention(services, { isDryRun: false });
    expect(again).toEqual(expect.arrayContaining([{ ...result, records: 0 }]));
  });

  it.each<[Setting, readonly number[], object]>([
    [{ retention: { messages: 3 } }, [0, 0.5, 2, 3], { days: 3, newest: undefined, records: 2 }],
    [{ keepNewest: { messages: 1 } }, [0, 0.5], { days: undefined, newest: 1, records: 4 }],
    [
      { retention: { messages: 3 }, keepNewest: { messages: 3 } },
      [0, 0.5, 2],
      { days: 3, newest: 3, records: 3 },
    ],
  ])('of messages with %j keeps those of the ages %j', async (kept, expected, result) => {
    const { services, clock } = await setUp([], kept);
    const session = { id: 's', ownerId: 'a', name: 'n', firstCreated: 0, lastUpdated: 0 };
    await services.store.collection(SESSIONS).insert(session);
    const messages = services.store.collection(MESSAGES);
    for (const [at, age] of [0, 0.5, 2, 3, 4, 5].entries()) {
      const createdAt = clock.now() - age * DAY_MS;
      const common = { sessionId: 's', ownerId: 'a', role: 'user', content: '', createdAt } as const;
      await messages.insert({ id: `${at}`.padStart(24, '0'), ...common });
    }
    const counted = await applyRetention(services, { isDryRun: true });
    expect(counted).toEqual(expect.arrayContaining([{ kind: 'messages', ...result }]));
    expect(await messages.count({})).toBe(6);
    expect(await applyRetention(services, { isDryRun: false })).toEqual(counted);
    const ages = (await messages.find({})).map(({ createdAt }) => (clock.now() - createdAt) / DAY_MS);
    expect(ages.sort((a, b) => a - b)).toEqual(expected);
  });

  it('has only the kinds with a setting', async () => {
    const { services, left } = await setUp([9999], {});
    expect(await applyRetention(services, { isDryRun: false })).toEqual(expect.arrayContaining(DEFAULTS));
    expect(await applyRetention(services, { isDryRun: false })).toHaveLength(DEFAULTS.length);
    expect(await left()).toEqual([9999]);
  });

  it.each([true, false])('names the archive of charges last (dry run: %s)', async (isDryRun) => {
    const lines: string[] = [];
    const archive = async (text: string) => void lines.push(text);
    const { services, clock } = await setUp([], { chargeArchive: { days: 90, archive } });
    await services.ledger.record({
      ...{ account: 'user:a', amount: 0, key: 'k' },
      details: { operation: 'x', userId: 'a', requestId: 'r' },
    });
    await clock.advance(90 * DAY_MS + 1);
    const results = await applyRetention(services, { isDryRun });
    expect(results.at(-1)).toEqual({ kind: 'charges', days: 90, newest: undefined, records: 1 });
    expect(lines).toHaveLength(isDryRun ? 0 : 1);
  });
});

describe('task of the retention', () => {
  it('deletes every ten minutes', async () => {
    const { services, left } = await setUp([0, 5], { retention: { analytics: 3 } });
    const task = createRetentionSweep(services);
    expect([task.name, task.everyMs]).toEqual(['sweep-retention', 600_000]);
    await task.run();
    expect(await left()).toEqual([0]);
  });

  it('deletes a bounded number in one run', async () => {
    let removed = 0;
    const { services } = await setUp(
      [],
      { retention: { analytics: 3 } },
      async (_filter, { limit = 0 } = {}) => {
        removed += limit;
        return limit;
      },
    );
    await createRetentionSweep(services).run();
    expect(removed).toBe(100_000);
  });

  it('reports a kind that fails, and goes on with the others', async () => {
    const { services, incidents, left } = await setUp([5], {
      ...{ retention: { analytics: 3, sessions: 3 }, isAway: true },
    });
    await createRetentionSweep(services).run();
    expect([incidents, await left()]).toEqual([[new Error('away')], []]);
    await expect(applyRetention(services, { isDryRun: false })).rejects.toThrow('away');
  });
});
