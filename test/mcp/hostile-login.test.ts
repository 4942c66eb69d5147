import { inspect } from 'node:util';
import { TOOL_AUTHORIZATIONS } from '@questline/core/internal';
import { createMemoryStore } from '@questline/core/memory';
import type { Store } from '@questline/core/ports';
import { createMcpTools, type McpServerOptions, type McpTools } from '@questline/mcp';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type ScriptedLogin, startScriptedLogin } from './scripted-login.ts';

const scopeOf = (userId: string) => ({
  userId,
  sessionId: 's',
  payer: { account: `user:${userId}`, userId },
});

type HttpServerOptions = Extract<McpServerOptions, { url: string }>;

interface Deployment {
  readonly login: ScriptedLogin;
  readonly store: Store;
  readonly tools: McpTools;
  readonly errors: unknown[];
  /** The tools of another process, or of this one after a change of its options. */
  open(server?: Partial<HttpServerOptions>): McpTools;
  /** Signs a person in. */
  connect(userId: string, person?: string, tools?: McpTools): Promise<void>;
  idsOf(userId: string, tools?: McpTools): Promise<readonly string[]>;
  run(userId: string, tool: string, tools?: McpTools): Promise<{ content: string; isError: boolean }>;
}

async function deploy(server: Partial<HttpServerOptions> = {}): Promise<Deployment> {
  const login = await startScriptedLogin();
  const store = createMemoryStore();
  const errors: unknown[] = [];
  const open = (changed: Partial<HttpServerOptions> = {}): McpTools => {
    const made = createMcpTools({
      servers: [{ id: 'diary', url: login.url, authorize: 'oauth', ...server, ...changed }],
      oauth: {
        store,
        secretEncryptionKey: 'b'.repeat(64),
        redirectUrl: 'http://127.0.0.1/callback',
        isAllowedAddress: () => true,
      },
      now: () => 1_000_000,
      onError: (error) => errors.push(error),
    });
    onTestFinished(() => made.close());
    return made;
  };
  const tools = open();
  return {
    ...{ login, store, tools, errors, open },
    async connect(userId, person = userId, made = tools) {
      const begun = await made.oauth?.begin(userId, 'diary');
      const state = new URL(begun?.url ?? '').searchParams.get('state') ?? '';
      await made.oauth?.finish(userId, { state, code: `code-${person}` });
    },
    idsOf: async (userId, made = tools) => (await made.list(scopeOf(userId))).map(({ id }) => id),
    run: (userId, tool, made = tools) =>
      made.run(
        { tool, input: {} },
        { ...scopeOf(userId), callKey: 'k', requestId: 'r', signal: new AbortController().signal },
      ),
  };
}

const CONNECT = ['diary__connect'];

describe('the tokens of a user', () => {
  it('go to no other address under the same id', async () => {
    const own = await deploy();
    const { url, tokens } = await startScriptedLogin();
    await own.connect('ada');
    expect(await own.idsOf('ada')).toEqual(['diary__diary_of_ada']);
    const moved = own.open({ url });
    expect(await own.idsOf('ada', moved)).toEqual(CONNECT);
    expect(await moved.oauth?.list('ada')).toEqual([{ id: 'diary', connected: false }]);
    expect(tokens).toEqual([]);
    // An authorization that began before the move does not end after it.
    const begun = await own.tools.oauth?.begin('ada', 'diary');
    const state = new URL(begun?.url ?? '').searchParams.get('state') ?? '';
    await expect(moved.oauth?.finish('ada', { state, code: 'code-ada' })).rejects.toThrow(/unknown/);
  });

  it('have a connection and a list of tools of their own after the user signs in as another person', async () => {
    const own = await deploy();
    await own.connect('ada', 'work');
    expect(await own.idsOf('ada')).toEqual(['diary__diary_of_work']);
    await own.connect('ada', 'home');
    expect(await own.idsOf('ada')).toEqual(['diary__diary_of_home']);
    expect((await own.run('ada', 'diary__diary_of_home')).content).toBe('Dear home');
    expect((await own.run('ada', 'diary__diary_of_work')).isError).toBe(true);
  });

  it('are not replaced by a renewal of earlier ones', async () => {
    const own = await deploy();
    await own.connect('ada', 'work');
    await own.idsOf('ada');
    own.login.accepted.clear();
    let goOn = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    let arrived = (): void => undefined;
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    own.login.endpoints.set('/token', async ({ fields }) => {
      if (fields.grant_type === 'refresh_token') {
        arrived();
        await held;
      }
      const person = fields.grant_type === 'refresh_token' ? 'work' : 'home';
      own.login.accepted.set(`access-${person}`, person);
      return {
        body: { access_token: `access-${person}`, token_type: 'Bearer', refresh_token: `r-${person}` },
      };
    });
    const renewing = own.run('ada', 'diary__diary_of_work');
    await arrival;
    await own.connect('ada', 'home');
    goOn();
    await renewing;
    expect(await own.idsOf('ada')).toEqual(['diary__diary_of_home']);
  });

  it('are renewed once, although another token was sent before the refusal arrives', async () => {
    const own = await deploy();
    await own.connect('ada');
    await own.idsOf('ada');
    own.login.accepted.clear();
    await Promise.all(Array.from({ length: 8 }, () => own.run('ada', 'diary__diary_of_ada')));
    expect(own.login.requests.filter(({ fields }) => fields.grant_type === 'refresh_token')).toHaveLength(1);
  });

  it('are renewed with the present secret of a client that the host has registered', async () => {
    const own = await deploy();
    const client = (secret: string) => ({ client: { id: 'own', secret, issuer: own.login.issuer } });
    const before = own.open(client('old'));
    await own.connect('ada', 'ada', before);
    own.login.endpoints.set('/token', ({ authorization = '', fields }) => {
      const sent = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString();
      if (sent !== 'own:new' && fields.client_secret !== 'new') {
        return { status: 401, body: { error: 'invalid_client' } };
      }
      own.login.accepted.set('access-new', 'ada');
      return { body: { access_token: 'access-new', token_type: 'Bearer' } };
    });
    own.login.accepted.clear();
    expect(await own.idsOf('ada', own.open(client('new')))).toEqual(['diary__diary_of_ada']);
  });

  it('stay out of errors, even if the authorization server repeats them', async () => {
    const own = await deploy();
    await own.connect('ada');
    await own.idsOf('ada');
    own.login.accepted.clear();
    own.login.endpoints.set('/token', (request) => ({
      status: 400,
      body: { error: 'invalid_request', error_description: `What is ${JSON.stringify(request)}?` },
    }));
    await own.run('ada', 'diary__diary_of_ada');
    own.login.endpoints.set('/token', (request) => ({
      status: 500,
      body: `What is ${JSON.stringify(request)}?`,
    }));
    await own.run('ada', 'diary__diary_of_ada');
    await own.connect('ada').catch((error) => own.errors.push(error));
    const sent = own.login.requests.flatMap(
      ({ fields: { refresh_token, code, code_verifier, client_secret } }) =>
        [refresh_token, code, code_verifier, client_secret].filter((one) => one !== undefined),
    );
    expect(sent.length).toBeGreaterThan(3);
    const shown = inspect(own.errors, { depth: 20 });
    for (const secret of [...sent, 'client-secret']) expect(shown).not.toContain(secret);
    // The reason stays.
    expect(shown).toContain('refused: invalid_request');
    expect(shown).toContain('refused: server_error');
  });
});

describe('a request for tokens', () => {
  it('names the tool server, also to an authorization server that no metadata names', async () => {
    for (const isSeparate of [true, false]) {
      const own = await deploy();
      own.login.isSeparate = isSeparate;
      const { url } = own.login;
      const begun = await own.tools.oauth?.begin('ada', 'diary');
      const { searchParams } = new URL(begun?.url ?? '');
      expect([isSeparate, searchParams.get('resource')]).toEqual([isSeparate, url]);
      await own.tools.oauth?.finish('ada', { state: searchParams.get('state') ?? '', code: 'code-ada' });
      own.login.accepted.clear();
      await own.idsOf('ada');
      const asked = own.login.requests.filter(({ path }) => path === '/token');
      expect(asked.map(({ fields }) => [fields.grant_type, fields.resource])).toEqual([
        ['authorization_code', url],
        ['refresh_token', url],
      ]);
    }
  });

  it('can be open a limited number of times', async () => {
    const own = await deploy();
    const states: string[] = [];
    for (let count = 0; count < 25; count += 1) {
      const begun = await own.tools.oauth?.begin('ada', 'diary');
      states.push(new URL(begun?.url ?? '').searchParams.get('state') ?? '');
    }
    await own.tools.oauth?.begin('eve', 'diary');
    expect(await own.store.collection(TOOL_AUTHORIZATIONS).count({ userId: 'ada' })).toBe(10);
    expect(await own.store.collection(TOOL_AUTHORIZATIONS).count({ userId: 'eve' })).toBe(1);
  });
});

describe('a tool server that repeats the request in its refusal', () => {
  it('brings no token and no header into errors', async () => {
    const headers = { 'X-Api-Key': 'key-of-the-host' };
    const own = await deploy({ headers });
    await own.connect('ada');
    expect(await own.idsOf('ada')).toEqual(['diary__diary_of_ada']);
    for (const status of [500, 403, 400, 404]) {
      own.login.answerCall = (request) => ({
        status,
        body: { asked: request.rawHeaders, because: 'of the rain' },
      });
      expect((await own.run('ada', 'diary__diary_of_ada')).isError).toBe(true);
      own.login.answerCall = () => undefined;
      await own.idsOf('ada');
    }
    const shown = inspect(own.errors, { depth: 20 });
    expect(shown).toContain('of the rain');
    for (const secret of ['access-ada', 'key-of-the-host']) expect(shown).not.toContain(secret);
  });
});

describe('an address that others name', () => {
  it('gets no request and no token by a redirect', async () => {
    const other = await startScriptedLogin();
    const own = await deploy({ headers: { 'X-Api-Key': 'key-of-the-host' } });
    await own.connect('ada');
    await own.idsOf('ada');
    const headers = { location: other.url };
    for (const status of [301, 302, 303, 307, 308]) {
      own.login.answerCall = () => ({ status, headers });
      expect((await own.run('ada', 'diary__diary_of_ada')).isError).toBe(true);
    }
    own.login.endpoints.set('/token', () => ({
      status: 307,
      headers: { location: `${other.issuer}/token` },
    }));
    await expect(own.connect('eve')).rejects.toThrow(/did not accept/);
    own.login.endpoints.set('/revoke', () => ({
      status: 307,
      headers: { location: `${other.issuer}/revoke` },
    }));
    await own.tools.oauth?.disconnect('ada', 'diary');
    expect([other.tokens, other.requests]).toEqual([[], []]);
  });

  it('gets no secret without encryption, if the tool server has one', async () => {
    const { issuer, requests } = await startScriptedLogin();
    const url = 'https://tools.example.com/mcp';
    const resource = { resource: url, authorization_servers: [issuer] };
    vi.stubGlobal('fetch', async (target: string | URL) =>
      String(target).includes('/.well-known/')
        ? Response.json(resource)
        : new Response(null, { status: 401 }),
    );
    onTestFinished(() => void vi.unstubAllGlobals());
    const own = await deploy({ url });
    await expect(own.tools.oauth?.begin('ada', 'diary')).rejects.toThrow(/is not https/);
    expect(requests).toEqual([]);
  });
});

describe('an answer to the redirect URL', () => {
  it('of another issuer is refused, also without metadata of the authorization server', async () => {
    const own = await deploy();
    own.login.metadata = null;
    const begun = await own.tools.oauth?.begin('ada', 'diary');
    const state = new URL(begun?.url ?? '').searchParams.get('state') ?? '';
    const answer = { state, code: 'code-ada', iss: 'https://other.example.com' };
    await expect(own.tools.oauth?.finish('ada', answer)).rejects.toThrow(/did not accept/);
    expect(own.login.requests.filter(({ path }) => path === '/token')).toEqual([]);
    const again = await own.tools.oauth?.begin('ada', 'diary');
    const next = new URL(again?.url ?? '').searchParams.get('state') ?? '';
    expect(
      await own.tools.oauth?.finish('ada', { state: next, code: 'code-ada', iss: own.login.issuer }),
    ).toBe('diary');
  });

  it('without the issuer that the metadata promises is refused', async () => {
    const own = await deploy();
    own.login.metadata = { authorization_response_iss_parameter_supported: true };
    await expect(own.connect('ada')).rejects.toThrow(/did not accept/);
    expect(await own.idsOf('ada')).toEqual(CONNECT);
  });
});

describe('an end of the access', () => {
  const revoked = (own: Deployment) =>
    own.login.requests
      .filter(({ path }) => path === '/revoke')
      .map(({ fields: { token, token_type_hint: hint } }) => [hint, token]);

  it('revokes the tokens of this user, as the client', async () => {
    const own = await deploy();
    await own.connect('ada');
    await own.connect('eve');
    expect(await own.tools.oauth?.disconnect('ada', 'diary')).toBe(true);
    expect(revoked(own)).toEqual([
      ['refresh_token', 'refresh-ada-1'],
      ['access_token', 'access-ada-1'],
    ]);
    const [asked] = own.login.requests.filter(({ path }) => path === '/revoke');
    const basic = `Basic ${Buffer.from('client:client-secret').toString('base64')}`;
    expect([asked?.authorization, asked?.fields.client_secret]).toEqual([basic, undefined]);
    expect(await own.tools.oauth?.disconnect('ada', 'diary')).toBe(false);
    expect(await own.tools.oauth?.disconnect('ada', 'none')).toBe(false);
    expect(revoked(own)).toHaveLength(2);
    expect([await own.idsOf('ada'), await own.idsOf('eve')]).toEqual([CONNECT, ['diary__diary_of_eve']]);
  });

  it('identifies the client as the authorization server supports it', async () => {
    const own = await deploy();
    own.login.metadata = { revocation_endpoint_auth_methods_supported: ['client_secret_post'] };
    await own.connect('ada');
    await own.tools.oauth?.disconnect('ada', 'diary');
    const [asked] = own.login.requests.filter(({ path }) => path === '/revoke');
    expect(asked?.authorization).toBeUndefined();
    expect(asked?.fields).toMatchObject({ client_id: 'client', client_secret: 'client-secret' });
  });

  it('deletes the tokens, also if they cannot be revoked, and reports no secret', async () => {
    for (const [name, metadata, endpoint] of [
      ['no endpoint', { revocation_endpoint: undefined }, undefined],
      ['no metadata', null, undefined],
      ['failure', {}, (request: unknown) => ({ status: 503, body: request })],
      ['redirect', {}, () => ({ status: 307, headers: { location: '/elsewhere' } })],
      ['plain http', { revocation_endpoint: 'http://revoke.example.com/' }, undefined],
      ['no address', { revocation_endpoint: 'file:///etc/passwd' }, undefined],
    ] as const) {
      const own = await deploy();
      await own.connect('ada');
      own.login.metadata = metadata;
      if (endpoint !== undefined) own.login.endpoints.set('/revoke', endpoint);
      expect([name, await own.tools.oauth?.disconnect('ada', 'diary')]).toEqual([name, true]);
      expect([name, await own.idsOf('ada')]).toEqual([name, CONNECT]);
      expect(inspect(own.errors, { depth: 20 })).not.toMatch(/(?:access|refresh)-ada|client-secret/);
      expect([name, own.login.requests.some(({ path }) => path === '/elsewhere')]).toEqual([name, false]);
    }
  });

  it('revokes the tokens that a renewal gets meanwhile', async () => {
    const own = await deploy();
    await own.connect('ada');
    await own.idsOf('ada');
    own.login.accepted.clear();
    own.login.endpoints.set('/token', async () => {
      await own.tools.oauth?.disconnect('ada', 'diary');
      return { body: { access_token: 'access-late', token_type: 'Bearer', refresh_token: 'refresh-late' } };
    });
    await own.run('ada', 'diary__diary_of_ada');
    expect(revoked(own)).toEqual([
      ['refresh_token', 'refresh-ada-1'],
      ['access_token', 'access-ada-1'],
      ['refresh_token', 'refresh-late'],
      ['access_token', 'access-late'],
    ]);
    expect(await own.idsOf('ada')).toEqual(CONNECT);
  });
});
