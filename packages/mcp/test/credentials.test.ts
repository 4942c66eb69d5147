import type { ToolContext } from '@questline/core';
import type { ToolScope } from '@questline/core/ports';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createMcpTools, type McpTools, type McpToolsOptions, type UserAuthorization } from '../src/index.ts';
import { createServerPool, type PoolSettings } from '../src/pool.ts';
import { listed, stubServer, URL_OF_SERVER } from './scripted-server.ts';

const made: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const one of made.splice(0)) await one.close();
  vi.unstubAllGlobals();
});

const scopeOf = (userId: string): ToolScope => ({
  ...{ userId, sessionId: 's', payer: { account: `user:${userId}`, userId } },
});

type Server = Extract<McpToolsOptions['servers'][number], { url: string }>;

function create(server: Partial<Server>) {
  const errors: unknown[] = [];
  const tools: McpTools = createMcpTools({
    servers: [{ id: 'one', url: URL_OF_SERVER, ...server }],
    onError: (error) => void errors.push(error),
    retryAfterMs: 0,
  });
  made.push(tools);
  const run = (name: string, userId = 'ada') => {
    const { signal } = new AbortController();
    const context: ToolContext = { ...scopeOf(userId), callKey: 'k', requestId: 'r', signal };
    return tools.run({ tool: `one__${name}`, input: {} }, context);
  };
  return { tools, errors, run, list: (userId = 'ada') => tools.listServer?.('one', scopeOf(userId)) };
}

const unauthorized = () => new Response(null, { status: 401, headers: { 'www-authenticate': 'Bearer' } });
const REFUSED = {
  url: URL_OF_SERVER,
  tools: [],
  error: 'The tool server refused the credential of the user.',
};
const AWAY = { ...REFUSED, error: 'The tool server could not be reached.' };

describe('the authorization of a user', () => {
  it('is asked for again after it failed, and the failure is reported', async () => {
    const { of } = stubServer();
    const failure = new Error('the vault is away');
    let asked = 0;
    const authorize = async ({ userId }: { userId: string }): Promise<UserAuthorization> => {
      asked += 1;
      if (asked === 1) throw failure;
      return { token: async () => `of-${userId}` };
    };
    const { list, errors } = create({ authorize });
    expect(await list()).toEqual(AWAY);
    expect(errors).toEqual([failure]);
    expect((await list())?.tools).toHaveLength(2);
    await list();
    expect(asked).toBe(2);
    expect(of('initialize')[0]?.headers.get('authorization')).toBe('Bearer of-ada');
  });

  it('reports a token that cannot be read', async () => {
    const { asked } = stubServer();
    const failure = new Error('the vault is away');
    const token = () => Promise.reject(failure);
    const { list, errors } = create({ authorize: () => ({ token, begin: async () => 'https://x.test' }) });
    expect(await list()).toEqual(AWAY);
    expect(errors).toEqual([failure]);
    expect(asked).toEqual([]);
  });

  it('has ended where the server refuses the token, which cannot be renewed', async () => {
    const { answers } = stubServer();
    answers.set('initialize', unauthorized);
    const { list, errors } = create({ authorize: () => ({ token: async () => 't' }) });
    expect(await list()).toEqual(REFUSED);
    expect(errors).toEqual([
      expect.objectContaining({
        message: 'the tool server refused the token',
        cause: new Error('the token cannot be renewed'),
      }),
    ]);
    // A user who authorizes meanwhile does not wait.
    answers.set('initialize', () => ({
      ...{ protocolVersion: '2025-11-25', capabilities: { tools: {} } },
      serverInfo: { name: 'test', version: '1' },
    }));
    expect((await list())?.tools).toHaveLength(2);
  });

  it('has ended where its token cannot be renewed, and the reason is reported', async () => {
    const { answers } = stubServer();
    answers.set('initialize', unauthorized);
    const failure = new Error('the grant has ended');
    const onUnauthorized = () => Promise.reject(failure);
    const { list, errors } = create({ authorize: () => ({ token: async () => 't', onUnauthorized }) });
    expect(await list()).toEqual(REFUSED);
    expect(errors).toEqual([expect.objectContaining({ cause: failure })]);
  });

  it('has ended where a server refuses the headers of the host', async () => {
    const { answers } = stubServer();
    answers.set('initialize', unauthorized);
    expect(await create({ headers: { 'x-key': 'k' } }).list()).toEqual(REFUSED);
    answers.set('initialize', () => new Response(null, { status: 402 }));
    expect(await create({ headers: { 'x-key': 'k' } }).list()).toEqual(AWAY);
  });

  it('is renewed with the token that was refused', async () => {
    const { answers } = stubServer();
    answers.set('tools/list', ({ headers }) =>
      headers.get('authorization') === 'Bearer second' ? listed('one') : unauthorized(),
    );
    let current = 'first';
    const refused: unknown[] = [];
    const { list, errors } = create({
      authorize: () => ({
        token: async () => current,
        async onUnauthorized({ token, response, serverUrl }) {
          refused.push([token, response.status, serverUrl.href]);
          current = 'second';
        },
      }),
    });
    expect((await list())?.tools).toHaveLength(1);
    expect([refused, errors]).toEqual([[['first', 401, URL_OF_SERVER]], []]);
  });

  it('begins by a tool until there is a token, and in a call whose token is refused', async () => {
    const { answers, asked } = stubServer();
    let token: string | undefined;
    const scopes: unknown[] = [];
    const { list, run, errors } = create({
      authorize: () => ({
        token: async () => token,
        async begin(scope) {
          scopes.push(scope);
          return 'https://login.test/?state=s';
        },
      }),
    });
    const connect = [expect.objectContaining({ name: 'connect', connects: true })];
    expect(await list()).toEqual({ url: URL_OF_SERVER, tools: connect });
    const content =
      'The user must connect one first. Ask the user to open this address, then try again: https://login.test/?state=s';
    expect(await run('connect')).toEqual({ content, isError: false });
    expect([asked, errors]).toEqual([[], []]);
    // A call of another tool gets the address, too.
    expect(await run('two')).toEqual({ content, isError: true });
    token = 't';
    expect((await run('two')).content).toBe('called two');
    answers.set('tools/call', unauthorized);
    expect(await run('two')).toEqual({ content, isError: true });
    expect(scopes).toEqual([undefined, undefined, undefined]);
    expect(errors).not.toEqual([]);
  });

  it('can be asked for more', async () => {
    const { answers, of } = stubServer();
    answers.set('tools/call', () => {
      const challenge = 'Bearer error="insufficient_scope", scope="write list"';
      return new Response(null, { status: 403, headers: { 'www-authenticate': challenge } });
    });
    const { run } = create({
      authorize: () => ({
        token: async () => 't',
        begin: async (scope) => `https://login.test/?scope=${scope}`,
      }),
    });
    const content =
      'The user must permit more for one first. Ask the user to open this address, then try again: https://login.test/?scope=write list';
    expect(await run('one')).toEqual({ content, isError: true });
    await run('one');
    expect([of('initialize').length, of('DELETE').length]).toEqual([1, 0]);
  });

  it('that cannot begin is reported, and fails the call', async () => {
    const { answers } = stubServer();
    answers.set('tools/call', unauthorized);
    const failure = new Error('login is away');
    const begin = () => Promise.reject(failure);
    const { run, errors } = create({ authorize: () => ({ token: async () => 't', begin }) });
    expect(await run('one')).toEqual({
      content: 'The tool server could not do this.',
      isError: true,
      failure: { type: 'http', code: 502 },
    });
    expect(errors.at(-1)).toBe(failure);
  });

  it('is offered where the server refuses the token of a list', async () => {
    const { answers } = stubServer();
    answers.set('initialize', unauthorized);
    const begin = async () => 'https://login.test';
    const { list } = create({ authorize: () => ({ token: async () => 't', begin }) });
    expect((await list())?.tools).toEqual([expect.objectContaining({ name: 'connect' })]);
  });
});

describe('the connections of users', () => {
  function createPool(server: Partial<Server>, settings: Partial<PoolSettings> = {}) {
    const state = { now: 1000 };
    const pool = createServerPool(
      { id: 'one', url: URL_OF_SERVER, ...server },
      {
        ...{ connectTimeoutMs: 5000, callTimeoutMs: 5000, retryAfterMs: 0, maxConnections: 2, idleMs: 100 },
        ...{ authorize: undefined, getGrant: undefined, now: () => state.now, onError: () => undefined },
        ...settings,
      },
    );
    made.push(pool);
    return { pool, state, list: (userId: string) => pool.use(scopeOf(userId), (server) => server.list()) };
  }
  const perUser = { headers: () => ({}) };

  it('are one for all users without a credential of theirs', async () => {
    const { of } = stubServer();
    const { list, state } = createPool({ headers: { 'x-key': 'k' } }, { maxConnections: 0 });
    for (const user of ['ada', 'eve']) {
      state.now += 1000;
      await list(user);
    }
    expect([of('initialize').length, of('DELETE').length]).toEqual([1, 0]);
    expect(of('initialize')[0]?.headers.get('x-key')).toBe('k');
  });

  it.each([
    ['headers', perUser, {}],
    ['an authorization', {}, { authorize: () => ({ token: async () => undefined }) }],
  ])('are one for each user with %s', async (_, server, settings) => {
    const { of } = stubServer();
    const { list } = createPool(server, settings);
    for (const user of ['ada', 'eve', 'ada']) await list(user);
    expect(of('initialize')).toHaveLength(2);
  });

  it('are one for each value of the headers, in any order, and for each grant', async () => {
    const { of } = stubServer();
    let headers: Record<string, string> = { a: '1', b: '2', c: '3' };
    let grant = 'first';
    const { list } = createPool({ headers: () => headers }, { getGrant: async () => grant });
    await list('ada');
    for (const names of [
      ['b', 'a', 'c'],
      ['c', 'b', 'a'],
    ]) {
      headers = Object.fromEntries(names.map((name) => [name, String('abc'.indexOf(name) + 1)]));
      await list('ada');
    }
    expect(of('initialize')).toHaveLength(1);
    headers = { a: '1', b: '2', c: '4' };
    await list('ada');
    expect(of('initialize')).toHaveLength(2);
    grant = 'second';
    await list('ada');
    expect(of('initialize')).toHaveLength(3);
  });

  it('close after their time without use', async () => {
    const { of } = stubServer();
    const { list, state } = createPool(perUser);
    await list('ada');
    state.now += 99;
    await list('eve');
    expect(of('DELETE')).toHaveLength(0);
    state.now += 1;
    await list('eve');
    await vi.waitFor(() => expect(of('DELETE')).toHaveLength(1));
    await list('ada');
    expect(of('initialize')).toHaveLength(3);
  });

  it('close beyond the maximum, the one that was used least recently first', async () => {
    const { of } = stubServer();
    const { list } = createPool(perUser);
    for (const user of ['ada', 'eve', 'ada']) await list(user);
    expect(of('DELETE')).toHaveLength(0);
    await list('kim');
    await vi.waitFor(() => expect(of('DELETE')).toHaveLength(1));
    for (const user of ['ada', 'kim']) await list(user);
    expect(of('initialize')).toHaveLength(3);
    await list('eve');
    expect(of('initialize')).toHaveLength(4);
  });

  it('stay open during each of their uses, and are idle afterwards, also after a failure', async () => {
    const { of } = stubServer();
    const { pool, list } = createPool(perUser, { maxConnections: 0 });
    const ends: (() => void)[] = [];
    const use = () =>
      pool.use(scopeOf('ada'), async (server) => {
        await server.list();
        await new Promise<void>((resolve) => ends.push(resolve));
        throw new Error('failed');
      });
    const uses = [use(), use()].map((one) => expect(one).rejects.toThrow('failed'));
    await vi.waitFor(() => expect(ends).toHaveLength(2));
    await list('eve');
    await vi.waitFor(() => expect(of('DELETE')).toHaveLength(1));
    ends[0]?.();
    await uses[0];
    await list('eve');
    await vi.waitFor(() => expect(of('DELETE')).toHaveLength(2));
    ends[1]?.();
    await uses[1];
    await vi.waitFor(() => expect(of('DELETE')).toHaveLength(3));
  });

  it('are none after the end, and have the id and the address of the server', async () => {
    const { of } = stubServer();
    const { pool, list } = createPool({});
    await list('ada');
    await pool.close();
    expect(of('DELETE')).toHaveLength(1);
    await expect(list('ada')).rejects.toThrow('the tools are closed');
    expect([pool.id, pool.url]).toEqual(['one', URL_OF_SERVER]);
  });

  it('are not opened if the headers of the user cannot be given', async () => {
    const { asked } = stubServer();
    const failure = new Error('no account');
    const { list } = createPool({ headers: () => Promise.reject(failure) });
    await expect(list('ada')).rejects.toBe(failure);
    expect(asked).toEqual([]);
  });
});
