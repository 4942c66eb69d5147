import {
  COLLECTIONS,
  createApi,
  createServices,
  createUser,
  fromCredits,
  issueApiKey,
  toFetchHandler,
  type UserRecord,
} from '@questline/core';
import { ORGANIZATIONS } from '@questline/core/internal';
import { createIds, createSystemClock } from '@questline/core/memory';
import { forgetUser } from '@questline/core/personal-data';
import {
  createShardDirectory,
  createSqlPorts,
  migrate,
  SHARD_COLLECTIONS,
  type ShardPorts,
  shard,
} from '@questline/sql';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Engine, POSTGRES, POSTGRES_URL, SQLITE_MEMORY } from '../../packages/sql/test/engines.ts';
import { sayAtOnce } from '../support/chat.ts';
import { createStudio, drawAll } from '../support/media.ts';
import { createScriptedProvider } from '../support/model.ts';

/** PostgreSQL shows that its statements do the same; fewer users take less time. */
const ENGINES: readonly (Engine & { readonly users: number })[] = [
  { ...SQLITE_MEMORY, users: 20 },
  ...(POSTGRES_URL === undefined ? [] : [{ ...POSTGRES, users: 4 }]),
];
const START = fromCredits(1000);
const clock = createSystemClock();
const ids = createIds();

async function openDatabase(engine: Engine): Promise<ShardPorts> {
  const { database, close } = await engine.open();
  onTestFinished(close);
  await migrate(database, { collections: [...COLLECTIONS, ...SHARD_COLLECTIONS] });
  return createSqlPorts(database, { clock, ids });
}

interface Person {
  readonly user: UserRecord;
  readonly key: string;
}

/** A service on a home database and shards that receive new owners in turn. */
async function openService(home: ShardPorts, shards: Readonly<Record<string, ShardPorts>>) {
  const incidents: unknown[] = [];
  let placed = 0;
  const directory = createShardDirectory({
    store: home.store,
    shards: Object.keys(shards),
    choose: (_, names) => names[placed++ % names.length] ?? '',
  });
  const services = createServices(
    {
      ...shard({ home, shards, directory }),
      models: [createScriptedProvider(sayAtOnce('Hello.')), createStudio(drawAll)],
      clock,
      ids,
    },
    {
      jwtSecret: 'a'.repeat(64),
      admin: { DefaultAPIModel: 'scripted' },
      worker: { pollMs: 100 },
      onError: (incident) => incidents.push(incident),
    },
  );
  const api = createApi(services);
  const handle = toFetchHandler(api);
  await api.start();
  const ask = async <T = Record<string, never>>(key: string, method: string, path: string, body?: object) => {
    const response = await handle(
      new Request(`http://questline.test${path}`, {
        method,
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
    const text = (await response?.text()) ?? '';
    return { status: response?.status ?? 0, body: (text === '' ? undefined : JSON.parse(text)) as T };
  };
  const issue = async (userId: string, organizationId?: string): Promise<string> => {
    const { key } = await issueApiKey(services, {
      userId,
      name: 'test',
      scopes: ['ai:chat', 'ai:generate', 'notebooks:read', 'notebooks:write', 'files:read', 'files:write'],
      requestsPerMinute: 100_000,
      requestsPerDay: 100_000,
      ...(organizationId !== undefined && { organizationId }),
    });
    return key;
  };
  const join = async (name: string): Promise<Person> => {
    const user = await createUser(services, { email: `${name}@example.com`, username: name });
    if (user === undefined) throw new Error('no user');
    const account = `user:${user.id}`;
    await services.ledger.grant({ account, amount: START, key: 'start', reason: 'start' });
    return { user, key: await issue(user.id) };
  };
  const chat = async (key: string, body: object = {}) => {
    const answer = await ask<{ status: string; sessionId: string; id: string }>(key, 'POST', '/api/chat', {
      message: 'Hi',
      wait: true,
      ...body,
    });
    expect(answer, JSON.stringify([answer, incidents.map(String)])).toMatchObject({
      status: 200,
      body: { status: 'done' },
    });
    return answer.body;
  };
  const token = ({ id, tokenVersion }: UserRecord) =>
    services.tokens.sign({ id, tokenVersion, typ: 'access' });
  return { services, ask, issue, join, chat, token, incidents, directory, close: () => api.close() };
}

/** The records of all collections that contain a text. */
async function findRecords({ store }: ShardPorts, text: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const definition of [...COLLECTIONS, ...SHARD_COLLECTIONS]) {
    const records = await store.collection(definition as typeof ORGANIZATIONS).find({});
    for (const record of records) {
      if (JSON.stringify(record).includes(text)) found.push(`${definition.name} ${record.id}`);
    }
  }
  return found;
}

const hasCharges = async ({ ledger }: ShardPorts, id: string): Promise<boolean> =>
  (await ledger.entries(`user:${id}`, { limit: 1 })).length > 0;

/** In the home database: what all processes read about a user, and no content. */
const HOME = /^(?:users|api_keys|organizations|shard_placements|audit_log) /;

describe.each(ENGINES)('two shards on $name', ({ users, ...engine }) => {
  it('keep everything of a user in one of them, and a third moves nothing', async () => {
    const [home, a, b] = [await openDatabase(engine), await openDatabase(engine), await openDatabase(engine)];
    const two = await openService(home, { a, b });
    const people: Person[] = [];
    for (let at = 0; at < users; at += 1) people.push(await two.join(`user${at}`));

    const sessions = new Map<string, string>();
    for (const { user, key } of people) {
      const { sessionId } = await two.chat(key);
      await two.chat(key, { sessionId });
      sessions.set(user.id, sessionId);
      const content = Buffer.from('my notes');
      const { file } = await two.services.library.save(user.id, {
        name: 'notes.txt',
        mimeType: 'text/plain',
        content,
      });
      expect(file?.ownerId).toBe(user.id);
      const drawn = await two.ask(key, 'POST', '/api/v1/image-generations', {
        prompt: 'A red panda',
        model: 'painter',
      });
      expect(drawn.status).toBe(200);
      await expect
        .poll(async () => (await two.ask(key, 'GET', `/api/quests/${drawn.body.id}`)).body, {
          timeout: 20_000,
        })
        .toMatchObject({ status: 'done' });
    }

    for (const [at, { user }] of people.entries()) {
      const [own, other] = at % 2 === 0 ? [a, b] : [b, a];
      expect(await findRecords(other, user.id)).toEqual([]);
      expect(await hasCharges(other, user.id)).toBe(false);
      expect((await findRecords(own, user.id)).length).toBeGreaterThan(8);
      expect(await hasCharges(own, user.id)).toBe(true);
      expect((await findRecords(home, user.id)).filter((record) => !HOME.test(record))).toEqual([]);
      expect((await two.services.ledger.balance(`user:${user.id}`)).held).toBe(0);
    }

    const [owner, reader, stranger] = people as [Person, Person, Person];
    const sessionId = sessions.get(owner.user.id) ?? '';
    const path = `/api/sessions/${sessionId}`;
    for (const { key } of [reader, stranger]) expect((await two.ask(key, 'GET', path)).status).toBe(404);
    const [ownerToken, readerToken] = [await two.token(owner.user), await two.token(reader.user)];
    const invite = await two.ask(ownerToken, 'POST', `/api/session/${sessionId}/invites`, {
      email: reader.user.email,
    });
    expect(invite.status).toBe(201);
    const accepted = await two.ask(readerToken, 'POST', `/api/invites/${invite.body._id}/accept`);
    expect(accepted, JSON.stringify([accepted, two.incidents.map(String)])).toMatchObject({ status: 200 });
    expect((await two.ask(reader.key, 'GET', path)).status).toBe(200);
    expect((await two.ask(stranger.key, 'GET', path)).status).toBe(404);
    // The purse of an organization is on its own shard, the members' chats on theirs.
    const organizationId = ids.next();
    await two.services.store.collection(ORGANIZATIONS).insert({
      id: organizationId,
      ownerId: owner.user.id,
      name: 'Engines',
      slug: 'engines',
      description: null,
      subscriptionTier: 'free',
      subscriptionStatus: 'trial',
      createdAt: 0,
      readerIds: [reader.user.id],
    });
    const purse = `organization:${organizationId}`;
    await two.services.ledger.grant({ account: purse, amount: START, key: 'start', reason: 'start' });
    const member = await two.services.ledger.balance(`user:${reader.user.id}`);
    for (const { user } of [owner, reader]) {
      const key = await two.issue(user.id, organizationId);
      await Promise.all(Array.from({ length: 3 }, () => two.chat(key)));
    }
    const paid = await two.services.ledger.balance(purse);
    expect([START - paid.posted, paid.held]).toEqual([6 * 110_000, 0]);
    expect(await two.services.ledger.balance(`user:${reader.user.id}`)).toEqual(member);
    await two.close();

    const before = await Promise.all([a, b].map((node) => findRecords(node, '')));
    const c = await openDatabase(engine);
    const three = await openService(home, { a, b, c });
    const guests: Person[] = [];
    for (let at = 0; at < 3; at += 1) guests.push(await three.join(`guest${at}`));
    const shards = await Promise.all(guests.map(({ user }) => three.directory.find(user.id)));
    expect(new Set(shards)).toEqual(new Set(['a', 'b', 'c']));
    for (const { key } of guests) await three.chat(key);
    expect(await Promise.all([a, b].map((node) => findRecords(node, '')))).toEqual(
      before.map((records) => expect.arrayContaining([...records])),
    );
    for (const [at, { user, key }] of people.entries()) {
      await three.chat(key, { sessionId: sessions.get(user.id) ?? '' });
      expect(await three.directory.find(user.id)).toBe(at % 2 === 0 ? 'a' : 'b');
      expect(await findRecords(c, user.id)).toEqual([]);
    }

    expect(await forgetUser(three.services, { userId: stranger.user.id })).toBe(true);
    for (const node of [a, b, c]) expect(await findRecords(node, stranger.user.id)).toEqual([]);
    expect(three.incidents).toEqual([]);
    expect(two.incidents).toEqual([]);
    await three.close();
  }, 120_000);
});
