import {
  COLLECTIONS,
  createApi,
  createServices,
  createUser,
  issueApiKey,
  toFetchHandler,
} from '@questline/core';
import { TOOL_AUTHORIZATIONS } from '@questline/core/internal';
import { createIds, createSystemClock } from '@questline/core/memory';
import { createMcpTools } from '@questline/mcp';
import { createMcpApi } from '@questline/mcp-server';
import { createSqlPorts, migrate } from '@questline/sql';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ENGINES } from '../../packages/sql/test/engines.ts';
import { startScriptedLogin } from '../mcp/scripted-login.ts';
import { sayAtOnce } from '../support/chat.ts';
import { createScriptedProvider } from '../support/model.ts';
import { readJson, rpc, SCOPES } from './support.ts';

const DAY = 24 * 3_600_000;

describe.each(ENGINES)('MCP on $name', (kind) => {
  it('lists tasks page by page until they expire', async () => {
    const engine = await kind.open();
    await migrate(engine.database, { collections: COLLECTIONS });
    const system = createSystemClock();
    let later = 0;
    const clock = { ...system, now: () => system.now() + later };
    const ids = createIds();
    const services = createServices(
      {
        ...createSqlPorts(engine.database, { clock, ids }),
        ...{ clock, ids, models: [createScriptedProvider(sayAtOnce('Rain.'))] },
      },
      {
        jwtSecret: 'a'.repeat(64),
        worker: { pollMs: 20 },
        admin: { DefaultAPIModel: 'scripted' },
      },
    );
    const api = createApi(services);
    await api.start();
    const keyOf = async (email: string): Promise<string> => {
      const user = await createUser(services, { email, username: email.slice(0, 3) });
      if (user === undefined) throw new Error('no user');
      const { id: userId } = user;
      await services.ledger.grant({ account: `user:${userId}`, amount: 1e12, key: email, reason: 'test' });
      return (await issueApiKey(services, { userId, name: 'k', scopes: SCOPES, requestsPerMinute: 10_000 }))
        .key;
    };
    const handle = toFetchHandler(createMcpApi(services), { mountPath: '/mcp' });
    const ask = async (key: string, method: string, params: object = {}) => {
      const request = new Request('http://questline.test/mcp', {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${key}`,
          'Content-Type': 'application/json',
          'MCP-Protocol-Version': '2025-11-25',
        },
        body: JSON.stringify(rpc(method, params)),
      });
      return readJson((await handle(request)) as Response);
    };
    const ada = await keyOf('ada@example.com');
    const eve = await keyOf('eve@example.com');
    const made: string[] = [];
    for (let count = 0; count < 12; count += 1) {
      const params = { name: 'ask_agent', arguments: { message: 'Hi' }, task: { ttl: DAY } };
      const answer = await ask(ada, 'tools/call', params);
      made.unshift(answer.result.task.taskId);
      // A user has a limited number of runs at the same time.
      const { result } = await ask(ada, 'tasks/result', { taskId: made[0] });
      expect(result.structuredContent).toMatchObject({ answer: 'Rain.' });
      later += 1000;
    }
    const first = (await ask(ada, 'tasks/list')).result;
    const second = (await ask(ada, 'tasks/list', { cursor: first.nextCursor })).result;
    const listed = [...first.tasks, ...second.tasks].map(({ taskId }: { taskId: string }) => taskId);
    expect([listed, first.tasks.length]).toEqual([made, 10]);
    expect((await ask(eve, 'tasks/list')).result.tasks).toEqual([]);
    expect((await ask(eve, 'tasks/get', { taskId: made[0] })).error.code).toBe(-32602);
    later += DAY;
    expect((await ask(ada, 'tasks/list')).result.tasks).toEqual([]);
    await api.close();
    await engine.close();
  });

  it('keeps, renews and revokes the tokens of users', async () => {
    const engine = await kind.open();
    await migrate(engine.database, { collections: COLLECTIONS });
    const { store } = createSqlPorts(engine.database, { clock: createSystemClock(), ids: createIds() });
    const login = await startScriptedLogin();
    const tools = createMcpTools({
      servers: [{ id: 'diary', url: login.url, authorize: 'oauth' }],
      oauth: {
        store,
        secretEncryptionKey: 'b'.repeat(64),
        redirectUrl: 'http://127.0.0.1/callback',
        isAllowedAddress: () => true,
      },
    });
    onTestFinished(() => tools.close());
    const userId = 'a'.repeat(24);
    const scope = { userId, sessionId: 's', payer: { account: `user:${userId}`, userId } };
    let state = '';
    for (let count = 0; count < 12; count += 1) {
      const begun = await tools.oauth?.begin(userId, 'diary');
      state = new URL(begun?.url ?? '').searchParams.get('state') ?? '';
    }
    expect(await store.collection(TOOL_AUTHORIZATIONS).count({ userId })).toBe(10);
    await tools.oauth?.finish(userId, { state, code: 'code-ada' });
    for (let renewal = 0; renewal < 2; renewal += 1) {
      expect((await tools.list(scope)).map(({ id }) => id)).toEqual(['diary__diary_of_ada']);
      login.accepted.clear();
      const context = { ...scope, callKey: 'k', requestId: 'r', signal: new AbortController().signal };
      expect((await tools.run({ tool: 'diary__diary_of_ada', input: {} }, context)).content).toBe('Dear ada');
    }
    expect(await tools.oauth?.disconnect(userId, 'diary')).toBe(true);
    expect(login.requests.filter(({ path }) => path === '/revoke')).toHaveLength(2);
    expect(await tools.oauth?.list(userId)).toEqual([{ id: 'diary', connected: false }]);
    await engine.close();
  });
});
