import { inspect } from 'node:util';
import type { UserRecord } from '@questline/core';
import { TOOL_AUTHORIZATIONS, TOOL_CLIENTS, TOOL_CREDENTIALS } from '@questline/core/internal';
import { createMemoryStore } from '@questline/core/memory';
import { createMcpTools, createToolServersApi, type McpTools, type McpToolsOptions } from '@questline/mcp';
import { createOpenAIApi } from '@questline/openai';
import OpenAI from 'openai';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ChatApp, createChatApp, sayAtOnce } from '../support/chat.ts';
import type { ModelCall } from '../support/model.ts';
import { createTestApp, NOW } from '../support/test-app.ts';
import { withVendorTypes } from '../support/vendor-types/check-wire.ts';
import { serveWire } from '../support/vendor-wire.ts';
import { type NotesServer, startNotesServer } from './oauth-server.ts';

const REDIRECT = 'http://127.0.0.1/callback';

interface JsonAnswer {
  readonly status: number;
  readonly body: {
    readonly url: string;
    readonly error: { readonly code: string; readonly message: string };
  };
}

interface OAuthApp extends ChatApp {
  /** Moves the clock of the tools. */
  later(ms: number): void;
  readonly notes: NotesServer;
  readonly tools: McpTools;
  /** The tools of another process. */
  readonly elsewhere: McpTools;
  readonly errors: unknown[];
  readonly eve: UserRecord;
  /** Calls the routes of the tool servers as a user. */
  send(method: string, path: string, user?: UserRecord, body?: unknown): Promise<JsonAnswer>;
  /** Begins and finishes an authorization. @param person who signs in at the tool server. */
  connect(user: UserRecord, person: string): Promise<void>;
  /** Begins an authorization and agrees. @returns what the callback gets. */
  agree(user: UserRecord, person: string): Promise<Record<string, string>>;
  /** @param made the tools of this process. Default: the first one. */
  read(user: UserRecord, made?: McpTools): Promise<{ content: string; isError: boolean }>;
  idsOf(user: UserRecord): Promise<readonly string[]>;
}

interface OAuthAppOptions {
  readonly isAllowedAddress?: () => boolean;
  readonly onCall?: (call: ModelCall) => void;
}

async function createOAuthApp({ onCall, ...options }: OAuthAppOptions = {}): Promise<OAuthApp> {
  const notes = await startNotesServer();
  const store = createMemoryStore();
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const state = { now: NOW };
  const toolsOptions: McpToolsOptions = {
    servers: [{ id: 'notes', url: notes.url, authorize: 'oauth' }],
    oauth: {
      store,
      secretEncryptionKey: 'b'.repeat(64),
      redirectUrl: REDIRECT,
      isAllowedAddress: () => true,
      ...options,
    },
    now: () => state.now,
    onError,
  };
  const tools = createMcpTools(toolsOptions);
  const elsewhere = createMcpTools(toolsOptions);
  onTestFinished(async () => {
    await tools.close();
    await elsewhere.close();
  });
  const app = await createChatApp({
    store: () => store,
    ...(onCall !== undefined && { onCall }),
    settings: { tools: [tools], admin: { DefaultAPIModel: 'scripted' } },
  });
  const url = await serveWire(createToolServersApi(app.services, tools, { onError }), '/tool-servers');
  const eve = await app.addUser('eve@example.com');
  const scopeOf = ({ id: userId }: UserRecord) => ({
    userId,
    sessionId: 's',
    payer: { account: `user:${userId}`, userId },
  });
  const made: OAuthApp = {
    ...app,
    later(ms) {
      state.now += ms;
    },
    notes,
    tools,
    elsewhere,
    errors,
    eve,
    async send(method, path, user = app.user, body = undefined) {
      const answer = await fetch(`${url}${path}`, {
        method,
        headers: {
          Authorization: `Bearer ${await app.token(user)}`,
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
    },
    async agree(user, person) {
      const begun = await made.send('POST', '/notes/authorize', user);
      expect(begun.status).toBe(200);
      const redirect = await notes.visit(begun.body.url, person);
      return Object.fromEntries(redirect.searchParams);
    },
    async connect(user, person) {
      const finished = await made.send('POST', '/callback', user, await made.agree(user, person));
      expect(finished).toEqual({ status: 200, body: { server: 'notes' } });
    },
    read: (user, made = tools) =>
      made.run(
        { tool: 'notes__read', input: {} },
        { ...scopeOf(user), callKey: 'k', requestId: 'r', signal: new AbortController().signal },
      ),
    idsOf: async (user) => (await tools.list(scopeOf(user))).map(({ id }) => id),
  };
  return made;
}

describe('tool servers behind OAuth', () => {
  it('show each of two users the own data, and a revoked token of one leaves the other untouched', async () => {
    const app = await createOAuthApp();
    const { user: ada, eve, notes } = app;
    expect(await app.idsOf(ada)).toEqual(['notes__connect']);
    await app.connect(ada, 'Ada');
    expect([await app.idsOf(ada), await app.idsOf(eve)]).toEqual([['notes__read'], ['notes__connect']]);
    await app.connect(eve, 'Eve');
    expect(await app.read(ada)).toEqual({ content: 'The notes of Ada.', isError: false });
    expect(await app.read(eve)).toEqual({ content: 'The notes of Eve.', isError: false });

    await notes.revoke('Ada');
    const refused = await app.read(ada);
    expect(refused.isError).toBe(true);
    expect(refused.content).toMatch(
      /^The user must connect notes first\. .* http:\/\/127\.0\.0\.1:\d+\/auth\?/,
    );
    expect(await app.idsOf(ada)).toEqual(['notes__connect']);
    const before = notes.requests.length;
    expect(await app.read(eve)).toEqual({ content: 'The notes of Eve.', isError: false });
    // No request of Eve was refused, and none was repeated.
    expect(notes.requests.length - before).toBe(1);

    await app.connect(ada, 'Ada');
    expect(await app.read(ada)).toEqual({ content: 'The notes of Ada.', isError: false });
  });

  it('are used in the turns of the users', async () => {
    const app = await createOAuthApp({
      onCall(call) {
        const [result] = call.request.messages.flatMap(({ content }) =>
          content.flatMap((part) => (part.type === 'tool_result' ? [part] : [])),
        );
        if (result !== undefined) return sayAtOnce(`I read: ${String(result.content)}`)(call);
        call.say({ type: 'tool_use', id: 't1', name: 'notes__read', arguments: '{}' });
        call.say({ type: 'usage', usage: { input: 1, output: 1 } }, { type: 'finish', reason: 'tool_use' });
        call.end();
      },
    });
    await app.connect(app.user, 'Ada');
    const ask = async (user: UserRecord) => {
      const body = { message: 'Read my notes', tools: ['notes__read'], newConversation: true, wait: true };
      const credential = await app.token(user);
      return (await app.json('POST', '/api/chat', { body, credential })).body;
    };
    expect(await ask(app.user)).toMatchObject({ responses: ['I read: The notes of Ada.'] });
    await app.notes.revoke('Ada');
    expect(await ask(app.user)).toMatchObject({
      responses: [expect.stringMatching(/^I read: The user must connect notes first/)],
    });
  });

  it('answer in responses of the OpenAI API with the data of the user who asks', async () => {
    const app = await createOAuthApp({
      onCall(call) {
        const [result] = call.request.messages.flatMap(({ content }) =>
          content.flatMap((part) => (part.type === 'tool_result' ? [part] : [])),
        );
        if (result !== undefined) return sayAtOnce('Read.')(call);
        const [tool] = call.request.tools ?? [];
        call.say({ type: 'tool_use', id: 't1', name: tool?.name ?? '', arguments: '{}' });
        call.say({ type: 'usage', usage: { input: 1, output: 1 } }, { type: 'finish', reason: 'tool_use' });
        call.end();
      },
    });
    await app.connect(app.user, 'Ada');
    await app.ledger.grant({ account: `user:${app.eve.id}`, amount: 1e9, key: 'eve', reason: 'start' });
    const url = await serveWire(withVendorTypes('openai', createOpenAIApi(app.services)), '/openai');
    const tools = [{ type: 'mcp' as const, server_label: 'notes', require_approval: 'never' as const }];
    const ask = async (user: UserRecord) => {
      const client = new OpenAI({ apiKey: await app.token(user), baseURL: `${url}/v1`, maxRetries: 0 });
      const { output } = await client.responses.create({ model: 'scripted', input: 'Read my notes', tools });
      return output.find(({ type }) => type === 'mcp_call');
    };
    expect(await ask(app.user)).toMatchObject({ name: 'read', output: 'The notes of Ada.' });
    expect(await ask(app.eve)).toMatchObject({ name: 'connect', output: expect.stringContaining('http') });
    await app.connect(app.eve, 'Eve');
    await app.notes.revoke('Ada');
    expect(await ask(app.eve)).toMatchObject({ output: 'The notes of Eve.' });
    expect(JSON.stringify(await ask(app.user))).not.toContain('The notes of');
  });

  it('renew an expired token, once for all calls', async () => {
    const app = await createOAuthApp();
    await app.connect(app.user, 'Ada');
    await app.read(app.user);
    const { length } = app.notes.issued;
    await app.notes.expire('Ada');
    const answers = await Promise.all([1, 2, 3].map(() => app.read(app.user)));
    expect(answers.map(({ content }) => content)).toEqual(Array(3).fill('The notes of Ada.'));
    expect(app.notes.issued.length - length).toBe(2);
  });

  it('renew a token in one of two processes', async () => {
    const app = await createOAuthApp();
    await app.connect(app.user, 'Ada');
    for (const made of [app.tools, app.elsewhere]) await app.read(app.user, made);
    const { length } = app.notes.issued;
    await app.notes.expire('Ada');
    const answers = await Promise.all([app.tools, app.elsewhere].map((made) => app.read(app.user, made)));
    expect(answers.map(({ content }) => content)).toEqual(Array(2).fill('The notes of Ada.'));
    expect(app.notes.issued.length - length).toBe(2);
  });

  it('are listed, and disconnected', async () => {
    const app = await createOAuthApp();
    await app.connect(app.user, 'Ada');
    expect((await app.send('GET', '/')).body).toEqual({ servers: [{ id: 'notes', connected: true }] });
    expect((await app.send('GET', '/', app.eve)).body).toEqual({
      servers: [{ id: 'notes', connected: false }],
    });
    expect((await app.send('DELETE', '/notes', app.eve)).status).toBe(404);
    expect(await app.notes.countTokens('Ada')).toBe(2);
    expect((await app.send('DELETE', '/notes')).status).toBe(204);
    expect(await app.notes.countTokens('Ada')).toBe(0);
    expect((await app.send('DELETE', '/notes')).status).toBe(404);
    expect(await app.idsOf(app.user)).toEqual(['notes__connect']);
    expect((await app.read(app.user)).isError).toBe(true);
    expect((await app.send('POST', '/none/authorize')).status).toBe(404);
  });

  it('finish an authorization once, for the user who has begun it, and before it expires', async () => {
    const app = await createOAuthApp();
    const { user: ada, eve } = app;
    const answer = await app.agree(ada, 'Ada');
    const unknown = { status: 400, error: 'The authorization is unknown, finished or expired. Begin again.' };
    const finish = async (user: UserRecord, body: object) => {
      const { status, body: refusal } = await app.send('POST', '/callback', user, body);
      return { status, error: refusal.error.message };
    };
    expect(await finish(eve, answer)).toEqual(unknown);
    expect(await finish(ada, { ...answer, state: 'other' })).toEqual(unknown);
    const parameters = new URLSearchParams(answer);
    expect(await app.send('GET', `/callback?${parameters}`)).toEqual({
      status: 200,
      body: { server: 'notes' },
    });
    expect(await finish(ada, answer)).toEqual(unknown);

    const late = await app.agree(eve, 'Eve');
    app.later(600_000);
    expect(await finish(eve, late)).toEqual(unknown);
    const denied = await app.agree(eve, 'Eve');
    expect(await finish(eve, { state: denied.state, error: 'access_denied' })).toEqual({
      status: 400,
      error: 'The authorization server refused: access_denied',
    });
    const forged = await app.agree(eve, 'Eve');
    expect((await finish(eve, { ...forged, iss: 'https://other.example.com' })).status).toBe(400);
    const wrong = await app.agree(eve, 'Eve');
    expect((await finish(eve, { ...wrong, code: 'wrong' })).status).toBe(400);
    expect(await app.idsOf(eve)).toEqual(['notes__connect']);
  });

  it('keep tokens encrypted, and out of errors and results', async () => {
    const app = await createOAuthApp();
    await app.connect(app.user, 'Ada');
    const pending = await app.agree(app.user, 'Ada');
    await app.notes.expire('Ada');
    await app.read(app.user);
    const { store } = app.services;
    const raw = JSON.stringify([
      await store.collection(TOOL_CREDENTIALS).find({}),
      await store.collection(TOOL_AUTHORIZATIONS).find({}),
      await store.collection(TOOL_CLIENTS).find({}),
    ]);
    await app.notes.revoke('Ada');
    const refusal = await app.read(app.user);
    const shown = JSON.stringify([refusal, app.incidents, inspect(app.errors, { depth: 9 })]);
    const secrets = [...app.notes.issued, pending.state ?? '', pending.code ?? ''];
    expect(secrets.length).toBeGreaterThan(5);
    for (const secret of secrets) {
      expect(secret).not.toBe('');
      expect(raw).not.toContain(secret);
      expect(shown).not.toContain(secret);
    }
    for (const collection of ['credential', 'authorization', 'client'])
      expect(raw).not.toContain(`${collection}_`);
    expect(raw.match(/"sealed":"v1\./g)).toHaveLength(3);
  });

  it('call no address of the own network that a tool server names', async () => {
    const app = await createOAuthApp({ isAllowedAddress: () => false });
    expect(await app.send('POST', '/notes/authorize')).toMatchObject({
      status: 502,
      body: { error: { message: 'The authorization of notes cannot begin now' } },
    });
    expect(app.notes.issued).toEqual([]);
  });

  it('have a client whose metadata can be its id', async () => {
    const app = await createTestApp();
    const oauth = {
      store: app.services.store,
      secretEncryptionKey: 'b'.repeat(64),
      redirectUrl: 'https://ai.example.com/tool-servers/callback',
    };
    const clientMetadataUrl = 'https://ai.example.com/tool-servers/client.json';
    const made = createMcpTools({ servers: [], oauth: { ...oauth, clientMetadataUrl } });
    const url = await serveWire(createToolServersApi(app.services, made), '/tool-servers');
    expect(await (await fetch(`${url}/client.json`)).json()).toMatchObject({
      client_id: clientMetadataUrl,
      redirect_uris: [oauth.redirectUrl],
      token_endpoint_auth_method: 'none',
    });
    expect((await fetch(`${url}/`)).status).toBe(401);
    const credential = `Bearer ${app.key}`;
    expect((await fetch(`${url}/`, { headers: { Authorization: credential } })).status).toBe(401);
    const none = await serveWire(
      createToolServersApi(app.services, createMcpTools({ servers: [], oauth })),
      '/x',
    );
    expect((await fetch(`${none}/client.json`)).status).toBe(405);
    expect(() => createToolServersApi(app.services, createMcpTools({ servers: [] }))).toThrow(TypeError);
  });

  it('are erased with the user', async () => {
    const { forgetUser } = await import('@questline/core/personal-data');
    const app = await createOAuthApp();
    await app.connect(app.user, 'Ada');
    await app.connect(app.eve, 'Eve');
    await app.agree(app.user, 'Ada');
    expect([await app.notes.countTokens('Ada'), await app.notes.countTokens('Eve')]).toEqual([2, 2]);
    await forgetUser(app.services, { userId: app.user.id });
    const { store } = app.services;
    expect(await store.collection(TOOL_CREDENTIALS).find({ userId: app.user.id })).toEqual([]);
    // Revoked at the authorization server, too, and only those of this user.
    expect([await app.notes.countTokens('Ada'), await app.notes.countTokens('Eve')]).toEqual([0, 2]);
    expect((await app.read(app.eve)).content).toBe('The notes of Eve.');
    expect(await store.collection(TOOL_AUTHORIZATIONS).find({})).toEqual([]);
  });
});
