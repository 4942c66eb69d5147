import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  COLLECTIONS,
  createApi,
  createServices,
  createUser,
  issueApiKey,
  toFetchHandler,
} from '@questline/core';
import { MESSAGES, QUESTS } from '@questline/core/internal';
import { StorageUnavailable } from '@questline/core/ports';
import { createSqlPorts, migrate, type SqlDatabase } from '@questline/sql';
import { createFakeClock, createFakeIds } from '@questline/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENGINES, type OpenEngine } from '../../packages/sql/test/engines.ts';
import { sayAtOnce } from '../support/chat.ts';
import { createScriptedProvider } from '../support/model.ts';
import { NOW } from '../support/test-app.ts';

const START = 1_000_000_000_000;
/** 10 input tokens and one output token. */
const CHARGE = 110_000;
const TURNS_OF_LOOP = 40;

/** A lost statement has no effect, or its answer is lost. */
type Loss = 'before' | 'after';

/** A database whose statement or transaction number `place` fails while it is armed. */
function createLossy(database: SqlDatabase) {
  const fault = { place: -1, loss: 'before' as Loss, calls: 0, isHit: false, running: 0 };
  const lose = async <T>(perform: () => Promise<T>): Promise<T> => {
    const isLost = fault.calls === fault.place;
    fault.calls += 1;
    fault.isHit ||= isLost;
    fault.running += 1;
    try {
      if (isLost && fault.loss === 'before') throw new StorageUnavailable('lost');
      const value = await perform();
      if (isLost) throw new StorageUnavailable('lost');
      return value;
    } finally {
      fault.running -= 1;
    }
  };
  const lossy = {
    ...database,
    run: (...args: Parameters<SqlDatabase['run']>) => lose(() => database.run(...args)),
    transaction: ((work, options) =>
      lose(() => database.transaction(work, options))) as SqlDatabase['transaction'],
    ...(database.dialect === 'sqlite' && {
      immediate: ((work, options) =>
        lose(() => database.immediate(work, options))) as typeof database.immediate,
    }),
  } as SqlDatabase;
  return { fault, lossy };
}

const [MEMORY, SERVER] = [ENGINES.at(0), ENGINES.at(-1)];

describe.each([MEMORY, SERVER].filter((engine) => engine !== undefined))(
  'a turn with one lost statement on $name',
  (kind) => {
    let engine: OpenEngine;
    let app: Awaited<ReturnType<typeof open>>;

    async function open(database: SqlDatabase) {
      await migrate(database, { collections: COLLECTIONS });
      const clock = createFakeClock(NOW);
      const ids = createFakeIds();
      const { fault, lossy } = createLossy(database);
      const { vectors: _, ...ports } = createSqlPorts(lossy, { clock, ids });
      const services = createServices(
        { ...ports, models: [createScriptedProvider(sayAtOnce('Hello.'))], clock, ids },
        { jwtSecret: 'a'.repeat(64), admin: { DefaultAPIModel: 'scripted' }, onError: () => undefined },
      );
      const user = await createUser(services, { email: 'ada@example.com', username: 'ada' });
      if (user === undefined) throw new Error('no user');
      const account = `user:${user.id}`;
      await services.ledger.grant({ account, amount: START, key: 'start', reason: 'start' });
      const { key } = await issueApiKey(services, {
        ...{ userId: user.id, name: 'test', scopes: ['ai:chat'] },
        ...{ requestsPerMinute: 100_000, requestsPerDay: 100_000 },
      });
      const api = createApi(services, { worker: false });
      await api.start();
      const handle = toFetchHandler(api);
      const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
      const settle = async (): Promise<void> => {
        for (let quiet = 0; quiet < TURNS_OF_LOOP; ) {
          await nextTurn();
          quiet = fault.running === 0 ? quiet + 1 : 0;
        }
      };
      return { clock, services, account, api, handle, headers, fault, settle };
    }

    beforeAll(async () => {
      engine = await kind.open();
      app = await open(engine.database);
    }, 60_000);

    afterAll(async () => {
      await app.api.close();
      await engine.close();
    });

    /** Runs a turn whose call number `place` is lost. @returns whether it has so many calls. */
    const runTurn = async (place: number, loss: Loss): Promise<boolean> => {
      const { clock, services, account, handle, headers, fault, settle } = app;
      const { store, ledger, queue } = services;
      const quests = store.collection(QUESTS);
      const messages = store.collection(MESSAGES);
      const { posted: before } = await ledger.balance(account);
      const known = await quests.count({});
      Object.assign(fault, { place, loss, calls: 0, isHit: false });
      const body = JSON.stringify({ message: 'Hi' });
      const request = new Request('http://questline.test/api/chat', { method: 'POST', headers, body });
      const response = await handle(request);
      await response?.text();
      await settle();
      fault.place = -1;
      // Longer than a lease and the interval of the recovery task.
      for (let step = 0; step < 10; step += 1) {
        await clock.advance(15_000);
        await settle();
      }
      const accepted = (await quests.find({})).slice(known);
      expect(accepted.length, `${loss} ${place}`).toBeLessThanOrEqual(1);
      if (response?.status === 200) expect(accepted.length, `${loss} ${place}`).toBe(1);
      const { posted, held } = await ledger.balance(account);
      const [quest] = accepted;
      const isAnswered = quest?.status === 'done' && quest.type === 'message';
      if (quest !== undefined) expect(['done', 'stopped'], `${loss} ${place}`).toContain(quest.status);
      const count = quest === undefined ? 0 : await messages.count({ sessionId: quest.sessionId });
      expect({ held, charged: before - posted, count }, `${loss} ${place} ${quest?.status}`).toEqual({
        held: 0,
        charged: isAnswered ? CHARGE : expect.toSatisfy((amount) => amount === 0 || amount === CHARGE),
        count: isAnswered ? 2 : expect.any(Number),
      });
      expect(await queue.counts()).toMatchObject({ ready: 0, leased: 0 });
      return fault.isHit;
    };

    it.each(['before', 'after'] as const)(
      '%s its effect: is charged once or not at all, and ends',
      async (loss) => {
        let place = 0;
        while (await runTurn(place, loss)) place += 1;
        expect(place).toBeGreaterThan(5);
      },
      60_000,
    );
  },
);
