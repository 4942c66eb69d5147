import {
  COLLECTIONS,
  createApi,
  createServices,
  createUser,
  issueApiKey,
  toFetchHandler,
} from '@questline/core';
import { createIds, createSystemClock } from '@questline/core/memory';
import { createSqlPorts, migrate } from '@questline/sql';
import { describe, expect, it } from 'vitest';
import { ENGINES } from '../../packages/sql/test/engines.ts';
import { callOnce, createMailTools } from '../support/approvals.ts';
import { createScriptedProvider } from '../support/model.ts';

const START = 1_000_000_000_000;
const WEEK = 7 * 24 * 3_600_000;

describe.each(ENGINES)('approvals on $name', (kind) => {
  it('survive two restarts and a week, and are taken once by two processes', async () => {
    const engine = await kind.open();
    await migrate(engine.database, { collections: COLLECTIONS });
    const model = createScriptedProvider(callOnce());
    const { tools, sent } = createMailTools();
    let later = 0;
    const open = async (database: typeof engine.database) => {
      const system = createSystemClock();
      const clock = { ...system, now: () => system.now() + later };
      const ids = createIds();
      const services = createServices(
        { ...createSqlPorts(database, { clock, ids }), models: [model], clock, ids },
        {
          jwtSecret: 'a'.repeat(64),
          secretEncryptionKey: 'b'.repeat(64),
          admin: { DefaultAPIModel: 'scripted' },
          worker: { pollMs: 20 },
          tools: [tools],
        },
      );
      const api = createApi(services);
      await api.start();
      return { services, api, handle: toFetchHandler(api) };
    };
    type Process = Awaited<ReturnType<typeof open>>;

    const first = await open(engine.database);
    const { services } = first;
    const user = await createUser(services, { email: 'ada@example.com', username: 'ada' });
    if (user === undefined) throw new Error('no user');
    const account = `user:${user.id}`;
    await services.ledger.grant({ account, amount: START, key: 'start', reason: 'start' });
    const scopes = ['ai:chat', 'notebooks:read'] as const;
    const { key } = await issueApiKey(services, { userId: user.id, name: 'test', scopes });
    const ask = async ({ handle }: Process, method: string, path: string, body?: object) => {
      const response = await handle(
        new Request(`http://questline.test${path}`, {
          method,
          headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        }),
      );
      return { status: response?.status, body: (await response?.json()) as Record<string, string> };
    };

    const { body: turn } = await ask(first, 'POST', '/api/chat', {
      message: 'Write to Bob',
      enableTools: true,
      approvals: true,
      wait: true,
    });
    expect(turn.status).toBe('waiting');
    expect(await first.services.ledger.balance(account)).toMatchObject({ posted: START - 150_000, held: 0 });
    await first.api.close();
    const second = await open(engine.database);
    await second.api.close();
    later = WEEK;
    const [here, there] = [await open(engine.database), await open(engine.peer())];
    const path = `/api/v1/quests/${turn.id}`;
    expect((await ask(there, 'GET', path)).body.status).toBe('waiting');
    const decisions = [{ callId: '1.0', decision: 'approve' }];
    const answers = await Promise.all(
      [here, there, here, there].map((one) => ask(one, 'POST', `${path}/decisions`, { decisions })),
    );
    // The turn may have ended before the last repetition arrives.
    expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
    await expect
      .poll(async () => (await ask(here, 'GET', path)).body, { timeout: 20_000 })
      .toMatchObject({ status: 'done', reply: 'Result: Sent to bob@example.com.' });
    expect(sent).toHaveLength(1);
    expect(await here.services.ledger.balance(account)).toMatchObject({ posted: START - 290_000, held: 0 });
    await here.api.close();
    await there.api.close();
    await engine.close();
  });
});
