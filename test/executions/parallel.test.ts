import { COLLECTIONS } from '@questline/core';
import { QUESTS } from '@questline/core/internal';
import { createSqliteDatabase, createSqlPorts, migrate } from '@questline/sql';
import { describe, expect, it, onTestFinished } from 'vitest';
import { withLateWrites } from '../../packages/core/test/late-store.ts';
import { answerParts, type ChatAppOptions, sayAtOnce, silent } from '../support/chat.ts';
import { createExecutionApp } from '../support/execution.ts';
import { shareWith } from '../support/sharing.ts';

const ENGINES: readonly (readonly [string, () => Promise<Pick<ChatAppOptions, 'ports'>>])[] = [
  ['memory', async () => ({})],
  ['SQLite', openSqlite],
];

async function openSqlite(): Promise<Pick<ChatAppOptions, 'ports'>> {
  const database = createSqliteDatabase({ path: ':memory:' });
  onTestFinished(() => database.close());
  await migrate(database, { collections: COLLECTIONS });
  return { ports: (given) => createSqlPorts(database, given) };
}

describe('parallel runs of one user', () => {
  it.each([
    ...ENGINES,
    ['memory whose writes take effect late', async () => ({ store: withLateWrites })] as const,
  ])('are limited to three, also when they are requested in parallel, on %s', async (_, open) => {
    const app = await createExecutionApp({ onCall: silent, ...(await open()) });
    const answers = await Promise.all(Array.from({ length: 50 }, () => app.run()));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 202)).toHaveLength(3);
    expect(statuses.filter((status) => status === 409)).toHaveLength(47);
    const quests = await app.services.store.collection(QUESTS).find({});
    expect(quests).toHaveLength(3);
    // Another user has separate slots.
    const other = await app.addUser('bob@example.com');
    const credential = await app.token(other);
    const { body } = await app.json('POST', '/api/v1/sessions', { body: { name: 'x' }, credential });
    expect((await app.run({ session_id: body.id }, { credential })).status).toBe(202);
  });

  it('release their slots however they end', async () => {
    const app = await createExecutionApp({ onCall: silent });
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) ids.push((await app.run()).body.id);
    await app.settle();
    expect((await app.run()).status).toBe(409);
    await app.json('POST', `/api/v1/agent-executions/${ids[1]}/cancel`);
    expect((await app.run()).status).toBe(202);
    expect((await app.run()).status).toBe(409);
    const running = app.calls.find(({ stopped }) => !stopped);
    running?.say(...answerParts('Done.'));
    running?.end();
    await app.settle();
    expect((await app.run()).status).toBe(202);
    expect((await app.run()).status).toBe(409);
  });

  it('are limited by the setting', async () => {
    const app = await createExecutionApp({
      onCall: silent,
      settings: { admin: { DefaultAPIModel: 'scripted' }, maxLiveExecutions: 1 },
    });
    expect([(await app.run()).status, (await app.run()).status]).toEqual([202, 409]);
  });

  it.each(ENGINES)('are limited in the sessions of the user and of others, on %s', async (_, open) => {
    const app = await createExecutionApp({
      ...(await open()),
      started: false,
      settings: { admin: { DefaultAPIModel: 'scripted' }, maxLiveExecutions: 2 },
    });
    const grace = await app.addUser('grace@example.com');
    await shareWith(app, app.user, `session/${app.sessionId}`, grace, 'write');
    const credential = await app.token(grace);
    const start = async (asked = {}) => (await app.run({}, asked)).status;
    for (const asked of [{}, { credential }]) {
      expect([await start(asked), await start(asked), await start(asked)]).toEqual([202, 202, 409]);
    }
  });
});

describe('header Idempotency-Key on runs', () => {
  const key = { headers: { 'Idempotency-Key': 'once' } };

  it('makes 50 parallel duplicates one run, one model call and one charge', async () => {
    const app = await createExecutionApp({ onCall: sayAtOnce('Hello.') });
    const answers = await Promise.all(Array.from({ length: 50 }, () => app.run({}, key)));
    await app.settle();
    for (const { status, body } of answers) expect([status, body]).toEqual([202, answers[0]?.body]);
    expect(app.calls).toHaveLength(1);
    expect(await app.ledger.charges({ account: app.account }, 10)).toHaveLength(1);
    const other = await app.run({ message: 'Something else' }, key);
    expect([other.status, other.body.errorCode]).toEqual([422, 'idempotency_key_reused']);
    const bad = await app.run({}, { headers: { 'Idempotency-Key': '' } });
    expect([bad.status, bad.body.errorCode]).toEqual([422, 'invalid_idempotency_key']);
  });

  it('can be used again after a run that got no slot', async () => {
    const app = await createExecutionApp({
      onCall: silent,
      settings: { admin: { DefaultAPIModel: 'scripted' }, maxLiveExecutions: 1 },
    });
    const { id } = (await app.run()).body;
    expect((await app.run({}, key)).status).toBe(409);
    await app.json('POST', `/api/v1/agent-executions/${id}/cancel`);
    expect((await app.run({}, key)).status).toBe(202);
  });
});
