import type { ToolContext } from '@questline/core';
import type { ToolScope } from '@questline/core/ports';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createMcpTools, type McpTools, type McpToolsOptions } from '../src/index.ts';
import { startServer, type TestServer } from './server.ts';

const ending: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end();
});

async function server(): Promise<TestServer> {
  const started = await startServer();
  ending.push(() => started.close());
  return started;
}

function tools(options: McpToolsOptions): McpTools {
  const made = createMcpTools(options);
  ending.push(() => made.close());
  return made;
}

const scopeOf = (userId: string): ToolScope => ({
  userId,
  sessionId: 's',
  payer: { account: `user:${userId}`, userId },
});

const run = (made: McpTools, userId: string, tool: string) => {
  const context: ToolContext = {
    ...scopeOf(userId),
    callKey: 'k',
    requestId: 'r',
    signal: new AbortController().signal,
  };
  return made.run({ tool, input: {} }, context);
};

const idsOf = async (made: McpTools, userId: string) =>
  (await made.list(scopeOf(userId))).map(({ id }) => id);

describe('tool servers per user', () => {
  it('get the headers of the user, and show each user the own tools', async () => {
    const { url } = await server();
    const headers = ({ userId }: ToolScope) => ({ Authorization: `Bearer of-${userId}` });
    const made = tools({ servers: [{ id: 'one', url, headers }] });
    const [ada, eve] = await Promise.all(['ada', 'eve'].map((user) => idsOf(made, user)));
    expect([ada, eve]).toEqual([['one__diary_of_ada'], ['one__diary_of_eve']]);
    expect((await run(made, 'ada', 'one__diary_of_ada')).content).toBe('Dear ada');
    expect(await made.find('one__diary_of_ada', scopeOf('eve'))).toBeUndefined();
    expect((await run(made, 'eve', 'one__diary_of_ada')).isError).toBe(true);
    expect((await made.select('Open the diary', scopeOf('eve'))).map(({ id }) => id)).toEqual(eve);
  });

  it('share no connection between users whose headers are equal', async () => {
    const test = await server();
    const made = tools({ servers: [{ id: 'one', url: test.url, headers: () => ({}) }] });
    await idsOf(made, 'ada');
    await idsOf(made, 'ada');
    expect(test.opened).toBe(1);
    await idsOf(made, 'eve');
    expect(test.opened).toBe(2);
  });

  it('get a new connection when the credential of the user changes', async () => {
    const test = await server();
    let token = 'of-ada';
    const headers = async () => ({ Authorization: `Bearer ${token}` });
    const made = tools({ servers: [{ id: 'one', url: test.url, headers }] });
    expect(await idsOf(made, 'ada')).toEqual(['one__diary_of_ada']);
    token = 'of-bob';
    expect(await idsOf(made, 'ada')).toEqual(['one__diary_of_bob']);
  });

  it('offer nothing to the user whose headers cannot be given', async () => {
    const { url } = await server();
    const errors: unknown[] = [];
    const headers = ({ userId }: ToolScope) => {
      if (userId === 'eve') throw new Error('no account');
      return { Authorization: `Bearer of-${userId}` };
    };
    const made = tools({ servers: [{ id: 'one', url, headers }], onError: (error) => errors.push(error) });
    expect(await idsOf(made, 'eve')).toEqual([]);
    expect((await run(made, 'eve', 'one__add')).isError).toBe(true);
    expect(errors).toHaveLength(2);
    expect(await idsOf(made, 'ada')).toEqual(['one__diary_of_ada']);
  });

  it('ask for the token of the user before each request, and once more when it is refused', async () => {
    const test = await server();
    const issued = new Map<string, number>();
    const asked: string[] = [];
    const authorize = ({ userId }: { userId: string }) => {
      asked.push(userId);
      return {
        token: async () => `of-${userId}-${issued.get(userId) ?? 1}`,
        onUnauthorized: async () => void issued.set(userId, (issued.get(userId) ?? 1) + 1),
      };
    };
    const made = tools({ servers: [{ id: 'one', url: test.url, authorize }] });
    expect(await idsOf(made, 'ada')).toEqual(['one__diary_of_ada']);
    expect(await idsOf(made, 'eve')).toEqual(['one__diary_of_eve']);
    test.revoked.add('Bearer of-ada-1');
    expect((await run(made, 'ada', 'one__diary_of_ada')).content).toBe('Dear ada');
    expect(test.headers.at(-1)).toBe('Bearer of-ada-2');
    expect((await run(made, 'eve', 'one__diary_of_eve')).content).toBe('Dear eve');
    expect(test.headers.at(-1)).toBe('Bearer of-eve-1');
    expect(asked).toEqual(['ada', 'eve']);
  });

  it('leave the other users untouched when they refuse one', async () => {
    const test = await server();
    const headers = ({ userId }: ToolScope) => ({ Authorization: `Bearer of-${userId}` });
    const made = tools({ servers: [{ id: 'one', url: test.url, headers }] });
    await Promise.all(['ada', 'eve'].map((user) => idsOf(made, user)));
    const { opened } = test;
    test.revoked.add('Bearer of-ada');
    expect(await run(made, 'ada', 'one__diary_of_ada')).toEqual({
      content: 'The tool server one refused the credential of the user.',
      isError: true,
    });
    expect((await run(made, 'eve', 'one__diary_of_eve')).content).toBe('Dear eve');
    expect(test.opened).toBe(opened);
  });

  it('offer the tool that begins the authorization until the user has a token', async () => {
    const test = await server();
    const tokens = new Map([['eve', 'of-eve']]);
    const authorize = ({ userId }: { userId: string }) => ({
      token: async () => tokens.get(userId),
      onUnauthorized: async () => {
        tokens.delete(userId);
        throw new Error('the token is revoked');
      },
      begin: async () => `https://login.example.com/?for=${userId}`,
    });
    const made = tools({ servers: [{ id: 'one', url: test.url, authorize }] });
    expect(await idsOf(made, 'ada')).toEqual(['one__connect']);
    expect(test.headers).toEqual([]);
    const asked = {
      content:
        'The user must connect one first. Ask the user to open this address, then try again: https://login.example.com/?for=ada',
      isError: false,
    };
    expect(await run(made, 'ada', 'one__connect')).toEqual(asked);
    tokens.set('ada', 'of-ada');
    expect(await idsOf(made, 'ada')).toEqual(['one__diary_of_ada']);
    await idsOf(made, 'eve');
    test.revoked.add('Bearer of-ada');
    expect(await run(made, 'ada', 'one__diary_of_ada')).toEqual({ ...asked, isError: true });
    expect(await run(made, 'ada', 'one__diary_of_ada')).toEqual({ ...asked, isError: true });
    expect(await run(made, 'ada', 'one__connect')).toEqual(asked);
    expect(await idsOf(made, 'ada')).toEqual(['one__connect']);
    expect((await run(made, 'eve', 'one__diary_of_eve')).content).toBe('Dear eve');
  });

  it('are used without idle connections, too', async () => {
    const test = await server();
    const made = tools({
      servers: [{ id: 'one', url: test.url, headers: () => ({}) }],
      maxConnections: 0,
      idleMs: 0,
    });
    for (const user of ['ada', 'eve', 'ada']) expect(await idsOf(made, user)).toHaveLength(4);
  });

  it('keep the connections of users who list tools at the same time', async () => {
    const test = await server();
    const made = tools({ servers: [{ id: 'one', url: test.url, headers: () => ({}) }], maxConnections: 1 });
    const users = ['ada', 'bob', 'eve', 'kim'];
    const found = await Promise.all(users.map((user) => idsOf(made, user)));
    expect(found.map(({ length }) => length)).toEqual([4, 4, 4, 4]);
    await vi.waitFor(() => expect(test.open).toBe(1));
  });

  it('open no connection after the end', async () => {
    const test = await server();
    const made = tools({ servers: [{ id: 'one', url: test.url, headers: () => ({}) }] });
    await made.close();
    expect(await idsOf(made, 'ada')).toEqual([]);
    expect(test.opened).toBe(0);
  });

  it('keep a bounded number of idle connections, and those with calls', async () => {
    const test = await server();
    let now = 0;
    const made = tools({
      servers: [{ id: 'one', url: test.url, headers: () => ({}) }],
      maxConnections: 2,
      idleMs: 1000,
      now: () => now,
    });
    const slow = run(made, 'ada', 'one__slow');
    await vi.waitFor(() => expect(test.started).toBe(1));
    for (const user of ['bob', 'eve', 'kim']) await idsOf(made, user);
    await vi.waitFor(() => expect(test.open).toBe(3));
    now = 2000;
    await idsOf(made, 'kim');
    await vi.waitFor(() => expect(test.open).toBe(2));
    expect(test.stopped).toBe(0);
    await made.close();
    expect((await slow).isError).toBe(true);
  });
});
