import { COLLECTIONS, createServices, createUser, type Incident, type Settings } from '@questline/core';
import { applyRetention, MESSAGES, QUESTS, SESSIONS, STORAGE_USAGE } from '@questline/core/internal';
import { createMemoryLedger, createMemoryLimiter, createMemoryStore } from '@questline/core/memory';
import type { Store } from '@questline/core/ports';
import { createSqlPorts, migrate } from '@questline/sql';
import { createFakeClock, createFakeIds } from '@questline/testing';
import { expect, onTestFinished } from 'vitest';
import { ENGINES, type Engine, POSTGRES_URL } from '../../packages/sql/test/engines.ts';
import { NOW } from '../support/test-app.ts';

export const DAY_MS = 86_400_000;
export const MESSAGE_BYTES = 300;

export interface Place {
  readonly name: string;
  readonly open: () => Promise<Awaited<ReturnType<Engine['open']>> | undefined>;
}

export const PLACES: readonly Place[] = [
  { name: 'memory', open: async () => undefined },
  // With a PostgreSQL server, PGlite adds nothing.
  ...ENGINES.filter(({ name }) => name !== 'PGlite' || POSTGRES_URL === undefined),
];

/** A workspace with one user. */
export async function createPlace(
  open: Place['open'],
  settings: Partial<Settings>,
  {
    toStore = (store) => store,
    watch = (store) => store,
  }: {
    /** Replaces the store. */
    readonly toStore?: (store: Store) => Store;
    /** Wraps the store of the service. */
    readonly watch?: (store: Store) => Store;
  } = {},
) {
  const clock = createFakeClock(NOW);
  const ids = createFakeIds();
  const engine = await open();
  if (engine !== undefined) {
    onTestFinished(() => engine.close());
    await migrate(engine.database, { collections: COLLECTIONS });
  }
  const ports =
    engine === undefined
      ? {
          store: createMemoryStore(),
          ledger: createMemoryLedger({ clock }),
          limiter: createMemoryLimiter(),
        }
      : createSqlPorts(engine.database, { clock, ids });
  const store = toStore(ports.store);
  const incidents: Incident[] = [];
  const services = createServices(
    { ...ports, store: watch(store), models: [], clock, ids },
    { jwtSecret: 'a'.repeat(64), onError: (incident) => incidents.push(incident), ...settings },
  );
  const user = await createUser(services, { email: 'ada@example.com', username: 'ada' });
  const ownerId = user?.id ?? '';
  const daysAgo = (days: number) => NOW - days * DAY_MS;

  const addSession = async (days: number): Promise<string> => {
    const id = ids.next();
    const time = daysAgo(days);
    const isAdded = await store
      .collection(SESSIONS)
      .insert({ id, ownerId, name: 'A session', firstCreated: time, lastUpdated: time } as never);
    expect(isAdded).toBe(true);
    return id;
  };
  /** One question and its answer. */
  const addTurn = async (sessionId: string, days: number, kind = 'chat'): Promise<string> => {
    const questId = await addQuest(sessionId, days, { kind });
    for (const role of ['user', 'assistant'] as const) {
      await store.collection(MESSAGES).insert({
        ...{ id: ids.next(), sessionId, ownerId, role, content: 'text', bytes: MESSAGE_BYTES, questId },
        createdAt: daysAgo(days),
      });
      const usage = store.collection(STORAGE_USAGE);
      const id = `${ownerId}:sessions`;
      if ((await usage.add(id, { bytes: MESSAGE_BYTES })) === undefined) {
        await usage.insert({ id, bytes: MESSAGE_BYTES });
      }
    }
    return questId;
  };
  const addQuest = async (sessionId: string, days: number, more: object = {}): Promise<string> => {
    const id = ids.next();
    const time = daysAgo(days);
    const request = { payer: { account: `user:${ownerId}` }, requestId: '' };
    await store.collection(QUESTS).insert({
      ...{ id, kind: 'image', sessionId, ownerId, status: 'done', type: 'message', request },
      ...{ createdAt: time, updatedAt: time, ...more },
    } as never);
    return id;
  };
  const run = async (isDryRun = false) =>
    Object.fromEntries(
      (await applyRetention(services, { isDryRun })).map(({ kind, records }) => [kind, records]),
    );
  const findTimes = async (sessionId: string): Promise<number[]> =>
    (await store.collection(MESSAGES).find({ sessionId }))
      .map(({ createdAt }) => (NOW - createdAt) / DAY_MS)
      .sort((a, b) => a - b);
  const findQuests = async (): Promise<string[]> =>
    (await store.collection(QUESTS).find({})).map(({ id }) => id).sort();
  const readUsage = async () => (await store.collection(STORAGE_USAGE).get(`${ownerId}:sessions`))?.bytes;
  return {
    services,
    incidents,
    store,
    clock,
    ids,
    ownerId,
    addSession,
    addTurn,
    addQuest,
    run,
    findTimes,
    findQuests,
    readUsage,
  };
}
