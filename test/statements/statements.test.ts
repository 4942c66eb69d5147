import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { POSTGRES_URL } from '../../packages/sql/test/engines.ts';
import { type CountingApp, createCountingApp, observePostgres, observeSqlite } from './counting.ts';

type Run = (app: CountingApp) => Promise<unknown>;

const completion = { model: 'scripted', messages: [{ role: 'user', content: 'Hi' }] };
const EMAIL = 'ada@example.com';
const CALLERS = 20;
/** Short enough for every message. */
const SHOWN = 160;

/** One code is mailed per 30 seconds. */
async function waitForNextCode({ advance, idle, take }: CountingApp): Promise<void> {
  await advance(30_000);
  await idle();
  take();
}

async function sendCode(app: CountingApp, email = EMAIL, from?: string): Promise<Record<string, unknown>> {
  await waitForNextCode(app);
  return app.ask('POST', '/api/otc/send', { email }, null, from);
}

async function signIn(app: CountingApp, from?: string): Promise<void> {
  const { pendingToken } = await sendCode(app, EMAIL, from);
  app.take();
  const body = { email: EMAIL, code: app.readCode(), pendingToken };
  await app.ask('POST', '/api/otc/verify', body, null, from);
}

/**
 * The maximum number of statements per operation, `begin` and `commit` included, with warm caches. Lower a number when
 * an operation needs fewer. On SQLite a ledger write is a transaction of several statements.
 */
const OPERATIONS: readonly (readonly [name: string, postgres: number, sqlite: number, run: Run])[] = [
  ['a completion', 3, 20, ({ ask }) => ask('POST', '/api/ai/v1/completions', completion)],
  [
    'a chat that opens a session, with its turn',
    4,
    36,
    ({ ask }) => ask('POST', '/api/chat', { message: 'Hi' }),
  ],
  ['a poll', 2, 5, ({ ask, quest }) => ask('GET', `/api/v1/quests/${quest}`)],
  ['a list of sessions', 2, 5, ({ ask }) => ask('GET', '/api/v1/sessions')],
  ['a list of messages', 3, 6, ({ ask, session }) => ask('GET', `/api/v1/sessions/${session}/messages`)],
  ['the models', 1, 4, ({ ask }) => ask('GET', '/api/v1/models')],
  ['the profile', 4, 7, ({ ask }) => ask('GET', '/api/v1/me')],
  ['the balance', 2, 5, ({ ask }) => ask('GET', '/api/v1/credits')],
  ['the usage', 5, 8, ({ ask }) => ask('GET', '/api/v1/usage')],
  [
    'an image, with its job',
    11,
    42,
    ({ ask, session }) =>
      ask('POST', '/api/v1/image-generations', { prompt: 'A cat', model: 'painter', session_id: session }),
  ],
  [
    'an agent run of one round, with its job',
    12,
    43,
    ({ ask, session }) => ask('POST', '/api/v1/agent-executions', { session_id: session, message: 'Do it' }),
  ],
  ['a mailed code', 1, 9, (app) => sendCode(app)],
  ['a mailed code to a new client address', 2, 10, (app) => sendCode(app, EMAIL, '192.0.2.1')],
  ['a sign-in with a mailed code', 3, 9, (app) => signIn(app)],
  ['a sign-in from a known client address', 3, 12, (app) => signIn(app, '192.0.2.2')],
  [
    'the deletion of a session of 10 messages, with its job',
    10,
    28,
    async ({ ask, token, advance, fillSession, idle, take }) => {
      const { id } = await ask('POST', '/api/v1/sessions', { name: 'Short' });
      await fillSession(String(id), 10);
      await idle();
      take();
      await ask('DELETE', `/api/sessions/${id}`, undefined, token);
      await advance(1000);
    },
  ],
];

const ENGINES = [
  { name: 'PostgreSQL', observe: observePostgres, at: 1, isMissing: POSTGRES_URL === undefined },
  { name: 'SQLite', observe: observeSqlite, at: 2, isMissing: false },
] as const;

for (const { name: engine, observe, at, isMissing } of ENGINES) {
  describe.skipIf(isMissing)(`operations on ${engine} need few statements`, () => {
    let app: CountingApp;
    beforeAll(async () => {
      app = await createCountingApp(observe);
    }, 60_000);
    afterAll(() => app?.close());

    const rows = OPERATIONS.map((operation) => [operation[0], operation[at], operation[3]] as const);
    it.each(rows)('%s: at most %i', async (_name, max, run) => {
      await run(app);
      await app.idle();
      app.take();
      await run(app);
      await app.idle();
      const statements = app.take();
      const shown = statements.map((text) => text.replaceAll(/\s+/g, ' ').slice(0, SHOWN)).join('\n');
      expect(statements.length, shown).toBeLessThanOrEqual(max);
      expect(statements.length).toBeGreaterThan(0);
    });

    it('reads the keys of callers together who come every two seconds', async () => {
      const { ask, quest, addKeys, advance, idle, take } = app;
      const keys = await addKeys(CALLERS);
      const pollAll = async (): Promise<number> => {
        await advance(2000);
        await idle();
        for (const key of keys) await ask('GET', `/api/v1/quests/${quest}`, undefined, key);
        await idle();
        return take().length;
      };
      await pollAll();
      await pollAll();
      const max = OPERATIONS.find(([name]) => name === 'a poll')?.[at] ?? 0;
      // The keys are read once a second, and their owner for the first of them.
      expect(await pollAll()).toBeLessThanOrEqual(CALLERS * max + 3);
    });

    it('counts no messages for a turn of a long session', async () => {
      const { id } = await app.ask('POST', '/api/v1/sessions', { name: 'Long' });
      await app.fillSession(String(id), 40);
      const chat = () => app.ask('POST', '/api/chat', { message: 'Hi', sessionId: id });
      // Messages without numbers are counted once.
      await chat();
      await app.idle();
      app.take();
      await chat();
      await app.idle();
      const statements = app.take().join('\n');
      expect(statements).toContain('questline_messages');
      expect(statements).not.toMatch(/count\(\*\)[^\n]*questline_messages/);
    });

    it('runs the same statements for a known and an unknown e-mail address', async () => {
      const from = '192.0.2.3';
      await app.idle();
      app.take();
      const lists: (readonly string[])[] = [];
      for (const email of [EMAIL, 'unknown@example.com', EMAIL, 'unknown@example.com']) {
        const { pendingToken } = await sendCode(app, email, from);
        const wrong = { email, code: 'wrong', pendingToken };
        await expect(app.ask('POST', '/api/otc/verify', wrong, null, from)).rejects.toThrow('422');
        lists.push(app.take());
      }
      const [known = [], unknown, knownAgain = [], unknownAgain] = lists;
      expect(known.length).toBeGreaterThan(3);
      expect(unknown).toEqual(known);
      expect(knownAgain.length).toBeGreaterThan(3);
      expect(unknownAgain).toEqual(knownAgain);
    });
  });
}
