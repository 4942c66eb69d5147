import {
  COLLECTIONS,
  createApi,
  createServices,
  createUser,
  issueApiKey,
  toFetchHandler,
} from '@questline/core';
import { MESSAGES, ORGANIZATIONS, QUESTS, SESSIONS } from '@questline/core/internal';
import { createShardDirectory, createSqlPorts, migrate, SHARD_COLLECTIONS, shard } from '@questline/sql';
import { createFakeClock, createFakeIds } from '@questline/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Engine,
  type OpenEngine,
  POSTGRES,
  POSTGRES_URL,
  SQLITE_MEMORY,
} from '../../packages/sql/test/engines.ts';
import { sayAtOnce } from '../support/chat.ts';
import { createFault, type Loss, loseStatements, waitForCalls } from '../support/lost-statements.ts';
import { createScriptedProvider } from '../support/model.ts';
import { NOW } from '../support/test-app.ts';

const START = 1_000_000_000_000;
/** 10 input tokens and one output token. */
const CHARGE = 110_000;

/** Where the parts of a turn are. The job of the turn is always with the user who asks. */
const TURNS = [
  { title: 'in an own session, paid by an organization of the other shard', isShared: false },
  { title: 'in a session of the other shard, paid by the user', isShared: true },
] as const;

const ENGINES: readonly (Engine & { readonly turns: readonly (typeof TURNS)[number][] })[] = [
  { ...SQLITE_MEMORY, turns: TURNS },
  // PostgreSQL shows that its statements do the same; one kind of turn takes less time.
  ...(POSTGRES_URL === undefined ? [] : [{ ...POSTGRES, turns: TURNS.slice(0, 1) }]),
];

/** A service on two shards: the first owner is on one, all others on the other. */
async function open(engines: readonly OpenEngine[]) {
  const clock = createFakeClock(NOW);
  const ids = createFakeIds();
  const fault = createFault();
  const [home, a, b] = await Promise.all(
    engines.map(async ({ database }) => {
      await migrate(database, { collections: [...COLLECTIONS, ...SHARD_COLLECTIONS] });
      // `settle` sees no claim that waits for its time.
      return createSqlPorts(loseStatements(database, fault), { clock, ids, claimEveryMs: 0 });
    }),
  );
  if (home === undefined || a === undefined || b === undefined) throw new Error('three databases');
  let first: string | undefined;
  const directory = createShardDirectory({
    store: home.store,
    shards: ['a', 'b'],
    choose(owner) {
      first ??= owner;
      return owner === first ? 'a' : 'b';
    },
  });
  const services = createServices(
    {
      ...shard({ home, shards: { a, b }, directory }),
      models: [createScriptedProvider(sayAtOnce('Hello.'))],
      clock,
      ids,
    },
    {
      jwtSecret: 'a'.repeat(64),
      admin: { DefaultAPIModel: 'scripted' },
      worker: { pollMs: 5000 },
      onError: () => undefined,
    },
  );
  const user = await createUser(services, { email: 'ada@example.com', username: 'ada' });
  const other = await createUser(services, { email: 'eve@example.com', username: 'eve' });
  if (user === undefined || other === undefined) throw new Error('no user');
  const organizationId = ids.next();
  const accounts = { own: `user:${user.id}`, organization: `organization:${organizationId}` };
  for (const account of Object.values(accounts)) {
    await services.ledger.grant({ account, amount: START, key: 'start', reason: 'start' });
  }
  const about = { name: 'Engines', slug: 'engines', description: null, createdAt: NOW };
  const tier = { subscriptionTier: 'free', subscriptionStatus: 'trial' } as const;
  const organization = { id: organizationId, ownerId: other.id, readerIds: [user.id], ...about, ...tier };
  await services.store.collection(ORGANIZATIONS).insert(organization);
  const session = { id: ids.next(), ownerId: other.id, name: 'Notes', writerIds: [user.id] };
  const times = { firstCreated: NOW, lastUpdated: NOW };
  await services.store.collection(SESSIONS).insert({ ...session, ...times });
  const issue = async (more: { organizationId?: string }) => {
    const limits = { requestsPerMinute: 100_000, requestsPerDay: 100_000 };
    const { key } = await issueApiKey(services, {
      ...{ userId: user.id, name: 'test', scopes: ['ai:chat'], ...limits },
      ...more,
    });
    return key;
  };
  const keys = { own: await issue({}), organization: await issue({ organizationId }) };
  const api = createApi(services, { worker: false });
  await api.start();
  const settle = () => waitForCalls(fault);
  return {
    clock,
    services,
    accounts,
    keys,
    sessionId: session.id,
    api,
    handle: toFetchHandler(api),
    fault,
    settle,
  };
}

describe.each(ENGINES)('a turn over two shards with one lost statement on $name', ({ turns, ...kind }) => {
  let engines: readonly OpenEngine[];
  let app: Awaited<ReturnType<typeof open>>;

  beforeAll(async () => {
    engines = await Promise.all([kind.open(), kind.open(), kind.open()]);
    app = await open(engines);
  }, 120_000);

  afterAll(async () => {
    await app.api.close();
    for (const engine of engines) await engine.close();
  });

  /** Runs a turn whose call number `place` is lost. @returns whether it has so many calls. */
  const runTurn = async (isShared: boolean, place: number, loss: Loss): Promise<boolean> => {
    const { clock, services, accounts, keys, fault, settle } = app;
    const { store, ledger, queue } = services;
    const quests = store.collection(QUESTS);
    const messages = store.collection(MESSAGES);
    const account = isShared ? accounts.own : accounts.organization;
    const { posted: before } = await ledger.balance(account);
    const [knownQuests, knownMessages] = [await quests.count({}), await messages.count({})];
    Object.assign(fault, { place, loss, calls: 0, isHit: false });
    const body = JSON.stringify({ message: 'Hi', ...(isShared && { sessionId: app.sessionId }) });
    const headers = {
      Authorization: `Bearer ${isShared ? keys.own : keys.organization}`,
      'Content-Type': 'application/json',
    };
    const request = new Request('http://questline.test/api/chat', { method: 'POST', headers, body });
    const response = await app.handle(request);
    await response?.text();
    await settle();
    fault.place = -1;
    // Longer than a lease and the interval of the recovery task.
    for (let step = 0; step < 10; step += 1) {
      await clock.advance(15_000);
      await settle();
    }
    const name = `${loss} ${place}`;
    expect([200, 503], name).toContain(response?.status);
    const order = { field: 'id', direction: 'desc' } as const;
    const added = (await quests.count({})) - knownQuests;
    expect(added, name).toBeLessThanOrEqual(1);
    if (response?.status === 200) expect(added, name).toBe(1);
    const [quest] = added === 0 ? [] : await quests.find({}, { order, limit: 1 });
    const isAnswered = quest?.status === 'done' && quest.type === 'message';
    if (quest !== undefined) expect(['done', 'stopped'], name).toContain(quest.status);
    const { posted, held } = await ledger.balance(account);
    const written = (await messages.count({})) - knownMessages;
    expect({ held, charged: before - posted, written }, `${name} ${quest?.status}`).toEqual({
      held: 0,
      charged: isAnswered ? CHARGE : expect.toSatisfy((amount) => amount === 0 || amount === CHARGE),
      written: isAnswered ? 2 : expect.any(Number),
    });
    expect(await queue.counts(), name).toMatchObject({ ready: 0, leased: 0 });
    return fault.isHit;
  };

  describe.each(turns)('$title', ({ isShared }) => {
    it.each(['before', 'after'] as const)(
      '%s its effect: is charged once or not at all, and ends',
      async (loss) => {
        let place = 0;
        while (await runTurn(isShared, place, loss)) place += 1;
        expect(place).toBeGreaterThan(10);
      },
      600_000,
    );
  });
});
