import { COLLECTIONS } from '@questline/core';
import { MEMENTOS, QUESTS, SESSIONS } from '@questline/core/internal';
import type { ModelInfo } from '@questline/core/ports';
import { createSqliteDatabase, createSqlPorts, migrate } from '@questline/sql';
import { describe, expect, it, onTestFinished } from 'vitest';
import { withLateWrites } from '../../packages/core/test/late-store.ts';
import { answerParts, type ChatApp, type ChatAppOptions, createChatApp, sayAtOnce } from '../support/chat.ts';
import { createScriptedProvider, type ModelCall, SCRIPTED_MODEL } from '../support/model.ts';

const ASK = { message: 'I keep bees near Oslo.', enableMementos: true };
const FOUND = '{"mementos": ["The user keeps bees."]}';

const isExtraction = ({ request }: ModelCall): boolean =>
  JSON.stringify(request.messages).includes('You extract facts');

/** Answers the turn, and leaves the extraction to the test. */
const answerTurn = (call: ModelCall): void => {
  if (!isExtraction(call)) sayAtOnce('Hello.')(call);
};

async function getTexts({ services }: ChatApp): Promise<readonly string[]> {
  return (await services.store.collection(MEMENTOS).find({})).map(({ text }) => text);
}

async function findExtractions({ services }: ChatApp) {
  return (await services.store.collection(QUESTS).find({})).filter(({ kind }) => kind === 'mementos');
}

/** Runs a turn up to the call of its extraction. */
async function beginExtraction(options: ChatAppOptions = {}) {
  const app = await createChatApp({ onCall: answerTurn, ...options });
  await app.chat({ ...ASK, wait: true });
  await app.settle();
  const call = app.calls.find(isExtraction);
  if (call === undefined) throw new Error('the model was not asked for mementos');
  return { app, call };
}

describe('extraction of mementos', () => {
  it('waits for the whole answer of its model', async () => {
    const { app, call } = await beginExtraction();
    call.say({ type: 'text', text: FOUND.slice(0, 20) });
    await app.settle();
    expect([await getTexts(app), await findExtractions(app)]).toMatchObject([[], [{ type: 'system' }]]);
    call.say(...answerParts(FOUND.slice(20)));
    call.end();
    await app.settle();
    expect([await getTexts(app), await findExtractions(app)]).toEqual([['The user keeps bees.'], []]);
  });

  it('stores nothing of a cancelled answer, which is charged', async () => {
    const { app, call } = await beginExtraction();
    call.say({ type: 'text', text: FOUND });
    await app.settle();
    await app.clock.advance(500);
    await app.settle();
    const [quest] = await findExtractions(app);
    const { body } = await app.json('POST', `/api/v1/quests/${quest?.id}/cancel`);
    expect(body).toMatchObject({ status: 'stopped', type: 'system' });
    await app.settle();
    expect([call.stopped, await getTexts(app)]).toEqual([true, []]);
    const charges = await app.ledger.charges({ account: app.account }, 10);
    expect(charges.map(({ status }) => status)).toEqual(['settled', 'settled']);
  });

  it('does not ask a model when its user may no longer use the session', async () => {
    const app = await createChatApp({ onCall: () => undefined });
    const bob = await app.addUser('bob@example.com');
    await app.ledger.grant({ account: `user:${bob.id}`, amount: 1e9, key: 'bob', reason: 'test' });
    const { body: session } = await app.json('POST', '/api/v1/sessions', { body: { name: 'Shared' } });
    const sessions = app.services.store.collection(SESSIONS);
    await sessions.update(session.id, { writerIds: [bob.id] });
    await app.chat({ ...ASK, sessionId: session.id }, { credential: await app.token(bob) });
    await app.settle();
    await sessions.update(session.id, { writerIds: [] });
    const [turn] = app.calls;
    if (turn !== undefined) sayAtOnce('Hello.')(turn);
    await app.settle();
    expect([app.calls.length, await getTexts(app)]).toEqual([1, []]);
  });

  it('asks for little reasoning, and caches no prompt', async () => {
    const info: ModelInfo = { ...SCRIPTED_MODEL, reasoningEfforts: ['low', 'high'] };
    const { call } = await beginExtraction({ model: createScriptedProvider(answerTurn, [info]) });
    expect(call.request).toMatchObject({ reasoningEffort: 'low', promptCache: { mode: 'off' } });
  });

  it.each([
    ['whose writes take effect late', async () => ({ store: withLateWrites })],
    ['on SQLite', openSqlite],
  ] as const)('ends with what it found on a store %s', async (_, open) => {
    const { app, call } = await beginExtraction(await open());
    sayAtOnce(FOUND)(call);
    await app.settle();
    await app.settle();
    expect([await getTexts(app), await findExtractions(app)]).toEqual([['The user keeps bees.'], []]);
    expect(app.incidents).toEqual([]);
  });
});

async function openSqlite(): Promise<ChatAppOptions> {
  const database = createSqliteDatabase({ path: ':memory:' });
  onTestFinished(() => database.close());
  await migrate(database, { collections: COLLECTIONS });
  return { ports: (given) => createSqlPorts(database, given) };
}
