import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { POSTGRES_URL } from '../../packages/sql/test/engines.ts';
import { type CountingApp, createCountingApp } from './counting.ts';

type Run = (app: CountingApp) => Promise<unknown>;

const completion = { model: 'scripted', messages: [{ role: 'user', content: 'Hi' }] };

/**
 * The maximum number of statements per operation, `begin` and `commit` included, with warm caches. Lower a number when
 * an operation needs fewer.
 */
const OPERATIONS: readonly (readonly [name: string, max: number, run: Run])[] = [
  ['a completion', 3, ({ ask }) => ask('POST', '/api/ai/v1/completions', completion)],
  [
    'a chat that opens a session, with its turn',
    28,
    ({ ask }) => ask('POST', '/api/chat', { message: 'Hi' }),
  ],
  ['a poll', 4, ({ ask, quest }) => ask('GET', `/api/v1/quests/${quest}`)],
  ['a list of sessions', 3, ({ ask }) => ask('GET', '/api/v1/sessions')],
  ['a list of messages', 4, ({ ask, session }) => ask('GET', `/api/v1/sessions/${session}/messages`)],
  ['the models', 2, ({ ask }) => ask('GET', '/api/v1/models')],
  ['the profile', 5, ({ ask }) => ask('GET', '/api/v1/me')],
  ['the balance', 3, ({ ask }) => ask('GET', '/api/v1/credits')],
  ['the usage', 8, ({ ask }) => ask('GET', '/api/v1/usage')],
];

describe.skipIf(POSTGRES_URL === undefined)('operations on PostgreSQL need few statements', () => {
  let app: CountingApp;
  beforeAll(async () => {
    app = await createCountingApp();
  }, 60_000);
  afterAll(() => app?.close());

  it.each(OPERATIONS)('%s: at most %i', async (_name, max, run) => {
    await run(app);
    await app.idle();
    app.take();
    await run(app);
    await app.idle();
    const statements = app.take();
    expect(statements.length, statements.join('\n')).toBeLessThanOrEqual(max);
    expect(statements.length).toBeGreaterThan(0);
  });
});
