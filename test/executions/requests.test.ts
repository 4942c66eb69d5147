import { COLLECTIONS } from '@questline/core';
import { QUESTS, SESSIONS, STORAGE_USAGE } from '@questline/core/internal';
import type { ModelInfo } from '@questline/core/ports';
import { createSqliteDatabase, createSqlPorts, migrate } from '@questline/sql';
import { describe, expect, it, onTestFinished } from 'vitest';
import { addAgent } from '../support/agents.ts';
import { type ChatAppOptions, sayAtOnce } from '../support/chat.ts';
import { createExecutionApp, type ExecutionApp } from '../support/execution.ts';
import { createTestFilesReader } from '../support/files-reader.ts';
import { createScriptedProvider, SCRIPTED_MODEL } from '../support/model.ts';
import { shareWith } from '../support/sharing.ts';

const AGENT = 'a'.repeat(24);
const MAX_TOKENS = 10_000;
const { prices: _prices, ...UNPRICED } = { ...SCRIPTED_MODEL, id: 'unpriced' };
const MODELS: readonly ModelInfo[] = [
  { ...SCRIPTED_MODEL, maxOutputTokens: MAX_TOKENS },
  { ...SCRIPTED_MODEL, id: 'other' },
  { ...SCRIPTED_MODEL, id: 'thinker', supportsThinking: true, maxOutputTokens: MAX_TOKENS },
  UNPRICED,
];

const files = createTestFilesReader({
  find: (id) => ({ id, name: 'notes.txt', mimeType: 'text/plain', isClean: true }),
  content: (id) => [{ type: 'text', text: `Text of ${id[0]}.` }],
});

const createApp = ({ settings, ...options }: ChatAppOptions = {}) =>
  createExecutionApp({
    model: createScriptedProvider(sayAtOnce('Hello.'), MODELS),
    ...options,
    settings: { admin: { DefaultAPIModel: 'scripted' }, ...settings },
  });

/** The session of the app as its store has it. */
const readSession = ({ services, sessionId }: ExecutionApp) =>
  services.store.collection(SESSIONS).get(sessionId);

async function openSqlite(): Promise<Pick<ChatAppOptions, 'ports'>> {
  const database = createSqliteDatabase({ path: ':memory:' });
  onTestFinished(() => database.close());
  await migrate(database, { collections: COLLECTIONS });
  return { ports: (given) => createSqlPorts(database, given) };
}

describe('accepted run', () => {
  it('makes its session the latest one, with its model', async () => {
    const app = await createApp();
    const before = await readSession(app);
    await app.clock.advance(5000);
    await app.run({ model: 'other' });
    expect(await readSession(app)).toEqual({
      ...before,
      lastUsedModel: 'other',
      lastUpdated: app.clock.now(),
    });
  });

  it('uses the model of the request, then that of its agent, then the usual one', async () => {
    const app = await createApp();
    await addAgent(app, { id: AGENT, name: 'Grace', preferredModel: 'other' });
    const modelOf = async (body: object) => (await app.run(body)).body.model;
    expect([
      await modelOf({ agent_id: AGENT, model: 'thinker' }),
      await modelOf({ agent_id: AGENT }),
      await modelOf({}),
    ]).toEqual(['thinker', 'other', 'scripted']);
  });

  it.each([
    [{ temperature: 0.1, agent_id: AGENT }, 0.1],
    [{ temperature: 0, agent_id: AGENT }, 0],
    [{ agent_id: AGENT }, 0.2],
    [{}, 0.3],
  ])('uses the temperature of the request, its agent or its session: %j', async (body, expected) => {
    const app = await createApp();
    await addAgent(app, { id: AGENT, name: 'Grace', temperature: 0.2 });
    await app.services.store.collection(SESSIONS).update(app.sessionId, { temperature: 0.3 });
    await app.run(body);
    await app.settle();
    expect(app.calls[0]?.request.temperature).toBe(expected);
  });

  it.each([
    [MAX_TOKENS - 1, undefined],
    [MAX_TOKENS, undefined],
    [MAX_TOKENS + 1, MAX_TOKENS],
    [undefined, undefined],
  ])('names the applied cap where it is lower than the requested one: %s', async (max_tokens, applied) => {
    const app = await createApp();
    expect((await app.run({ max_tokens })).body.max_tokens).toBe(applied);
  });

  it('has no room for reasoning where the model has none', async () => {
    const app = await createApp();
    await app.run({ thinking: { enabled: true, budget_tokens: 2000 } });
    await app.settle();
    expect(app.calls[0]?.request).toMatchObject({ model: 'scripted', maxTokens: 4096 });
  });

  it('adds the reasoning to the cap of its agent', async () => {
    const app = await createApp();
    await addAgent(app, { id: AGENT, name: 'Grace', maxTokens: 500 });
    await app.run({ agent_id: AGENT, model: 'thinker', thinking: { enabled: true, budget_tokens: 2000 } });
    await app.settle();
    expect(app.calls[0]?.request.maxTokens).toBe(2500);
  });

  // A token costs 0.01 credits: half of the usual cap is affordable.
  it.each([
    ['is lowered where no cap was named', {}, 'completed'],
    ['stays where the request names it', { max_tokens: MAX_TOKENS }, 'failed'],
    ['stays where its agent names it', { agent_id: AGENT }, 'failed'],
  ])('has a cap that %s and the credit does not cover it', async (_, body, status) => {
    const app = await createApp({ credits: 80 });
    await addAgent(app, { id: AGENT, name: 'Grace', maxTokens: MAX_TOKENS });
    const { id } = (await app.run({ model: 'thinker', ...body })).body;
    await app.settle();
    expect((await app.look(id)).status).toBe(status);
    expect(app.calls.map(({ request }) => request.maxTokens)).toEqual(status === 'failed' ? [] : [5000]);
  });

  const [ONE, TWO] = ['1'.repeat(24), '2'.repeat(24)];

  it.each([
    [{ file_ids: [ONE] }, ['Text of 1.']],
    [{ session_file_ids: [TWO] }, ['Text of 2.']],
    [{ file_ids: [ONE], session_file_ids: [TWO, ONE] }, ['Text of 1.', 'Text of 2.']],
  ])('gives the model each of its files once: %j', async (body, expected) => {
    const app = await createApp({ services: (services) => ({ ...services, files }) });
    await app.run(body);
    await app.settle();
    const said = JSON.stringify(app.calls[0]?.request.messages);
    expect(said.match(/Text of \d\./g)).toEqual(expected);
  });

  it('is stored with its slot and its job in one step', async () => {
    let transactions = 0;
    const app = await createApp({
      ...(await openSqlite()),
      started: false,
      store: (store) => ({
        ...store,
        transaction: (...given) => {
          transactions += 1;
          return store.transaction(...given);
        },
      }),
    });
    transactions = 0;
    expect([(await app.run()).status, transactions]).toEqual([202, 0]);
    expect(await app.services.queue.counts()).toMatchObject({ ready: 1 });
  });
});

describe('refused run', () => {
  const QUOTA = 3000;
  const options: ChatAppOptions = {
    started: false,
    settings: { maxLiveExecutions: 1, storageQuotas: { sessions: QUOTA } },
  };

  /** An app with a session of Ada, in which Grace may write as well. @returns how its user asks. */
  async function createSession(whose: string) {
    const app = await createApp(options);
    const grace = await app.addUser('grace@example.com');
    await shareWith(app, app.user, `session/${app.sessionId}`, grace, 'write');
    return { app, asked: whose === 'own' ? {} : { credential: await app.token(grace) } };
  }

  it.each(['own', 'foreign'])(
    'leaves the %s session unchanged where its storage is used up',
    async (whose) => {
      const { app, asked } = await createSession(whose);
      const usage = app.services.store.collection(STORAGE_USAGE);
      await usage.update(`${app.user.id}:sessions`, { bytes: QUOTA });
      const before = await readSession(app);
      await app.clock.advance(5000);
      const { status, body } = await app.run({}, asked);
      expect([status, body.errorCode]).toEqual([422, 'limit_exceeded']);
      expect(await readSession(app)).toEqual(before);
      expect(await app.services.store.collection(QUESTS).count({})).toBe(0);

      // It has no slot.
      await usage.update(`${app.user.id}:sessions`, { bytes: QUOTA - 1 });
      expect((await app.run({}, asked)).status).toBe(202);
    },
  );

  it.each(['own', 'foreign'])('leaves the %s session unchanged where no slot is free', async (whose) => {
    const { app, asked } = await createSession(whose);
    expect((await app.run({}, asked)).status).toBe(202);
    const before = await readSession(app);
    await app.clock.advance(5000);
    expect((await app.run({}, asked)).status).toBe(409);
    expect(await readSession(app)).toEqual(before);
  });

  it('has a model without a price while credits are enforced', async () => {
    const app = await createApp();
    const { status, body } = await app.run({ model: 'unpriced' });
    expect([status, body.errorCode]).toEqual([422, 'model_unavailable']);
    const free = await createApp({ settings: { admin: { enforceCredits: false } } });
    expect((await free.run({ model: 'unpriced' })).status).toBe(202);
  });

  it('has an agent while agents are switched off', async () => {
    const app = await createApp({
      settings: { admin: { DefaultAPIModel: 'scripted', EnableAgents: false } },
    });
    await addAgent(app, { id: AGENT, name: 'Grace' });
    expect([(await app.run({ agent_id: AGENT })).status, (await app.run()).status]).toEqual([403, 202]);
  });

  it('has a session that is deleted before it is stored', async () => {
    const app = await createApp({
      services: (services) => ({
        ...services,
        files: {
          ...files,
          async findAll(userId, ids) {
            await services.store.collection(SESSIONS).take(app.sessionId);
            return files.findAll(userId, ids);
          },
        },
      }),
    });
    const { status, body } = await app.run({ file_ids: ['1'.repeat(24)] });
    expect([status, body.error]).toEqual([404, 'Session not found']);
    expect(await app.services.store.collection(QUESTS).count({})).toBe(0);
  });

  it('has an id that another run has', async () => {
    let repeated: string | undefined;
    const app = await createApp({
      services: (services) => ({
        ...services,
        ids: { ...services.ids, next: () => repeated ?? services.ids.next() },
      }),
    });
    const { id } = (await app.run()).body;
    await app.settle();
    const before = await readSession(app);
    await app.clock.advance(5000);
    repeated = id;
    expect((await app.run({ message: 'Another task' })).status).toBe(500);
    expect(await readSession(app)).toEqual(before);
    expect(app.incidents.map(({ error }) => String(error))).toEqual(['Error: duplicate quest id']);
  });
});
