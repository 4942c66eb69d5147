import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import Provider from 'oidc-provider';
import { onTestFinished } from 'vitest';

/** A tool server whose users sign in at an authorization server. */
export interface NotesServer {
  readonly url: string;
  readonly issuer: string;
  /** `Authorization` of every request to the tool server. */
  readonly requests: readonly (string | undefined)[];
  /** Tokens that were issued, and everything that clients sent to the token endpoint. */
  readonly issued: readonly string[];
  /** Opens an address as the browser of a person, who agrees. @returns the redirect with the answer. */
  visit(address: string, person: string): Promise<URL>;
  /** Ends the access tokens of a person, as their expiry does. */
  expire(person: string): Promise<void>;
  /** The number of tokens of a person that still work. */
  countTokens(person: string): Promise<number>;
  /** Ends all that a person has granted. */
  revoke(person: string): Promise<void>;
}

const CALLBACK = 'http://127.0.0.1/callback';

export async function startNotesServer(): Promise<NotesServer> {
  const requests: (string | undefined)[] = [];
  const issued: string[] = [];
  const accounts = new Map<string, { access: string[]; refresh: string[]; grants: string[] }>();
  const notes = createServer((request, response) => {
    void answerNotes(request, response);
  });
  const login = createServer((request, response) => {
    void answerLogin(request, response);
  });
  const url = `${await listen(notes)}/mcp`;
  const issuer = await listen(login);
  const metadata = `${new URL(url).origin}/.well-known/oauth-protected-resource/mcp`;

  const provider = new Provider(issuer, {
    cookies: { keys: ['k'.repeat(32)] },
    scopes: ['openid', 'offline_access', 'notes'],
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    ttl: {
      AccessToken: 3600,
      AuthorizationCode: 60,
      Grant: 3600,
      Interaction: 60,
      RefreshToken: 3600,
      Session: 60,
    },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => url,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({ scope: 'notes', audience: url, accessTokenFormat: 'opaque' }),
      },
    },
  });
  provider.on('access_token.saved', ({ accountId, jti, grantId }) => {
    const account = accountOf(accountId);
    account.access.push(jti);
    account.grants.push(grantId ?? '');
    issued.push(jti);
  });
  provider.on('refresh_token.saved', ({ accountId, jti }) => {
    accountOf(accountId).refresh.push(jti);
    issued.push(jti);
  });
  provider.on(
    'registration_create.success',
    (_context, client) => void issued.push(String(client.clientSecret)),
  );
  const callback = provider.callback();

  function accountOf(id: string) {
    const account = accounts.get(id) ?? { access: [], refresh: [], grants: [] };
    accounts.set(id, account);
    return account;
  }

  async function answerLogin(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    if (request.url?.startsWith('/interaction/') !== true) return callback(request, response);
    const person = String(request.headers['x-person']);
    const { params } = await provider.interactionDetails(request, response);
    const grant = new provider.Grant({ accountId: person, clientId: String(params.client_id) });
    grant.addOIDCScope('openid offline_access notes');
    grant.addResourceScope(url, 'notes');
    const result = { login: { accountId: person }, consent: { grantId: await grant.save() } };
    return provider.interactionFinished(request, response, result);
  }

  async function answerNotes(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url?.startsWith('/.well-known/') === true) {
      const known = { resource: url, authorization_servers: [issuer], scopes_supported: ['notes'] };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(known));
      return;
    }
    requests.push(request.headers.authorization);
    const [, value = ''] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? [];
    const token = value === '' ? undefined : await provider.AccessToken.find(value);
    if (token === undefined || token.isExpired) {
      response.writeHead(401, {
        'www-authenticate': `Bearer resource_metadata="${metadata}", scope="notes"`,
      });
      response.end();
      return;
    }
    const server = new McpServer({ name: 'notes', version: '1.0.0' });
    const { accountId } = token;
    server.registerTool(
      'read',
      { description: 'Reads the notes.', annotations: { readOnlyHint: true } },
      () => ({
        content: [{ type: 'text', text: `The notes of ${accountId}.` }],
      }),
    );
    // Without sessions: each request is answered for the user of its token.
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport as Transport);
    await transport.handleRequest(request, response);
  }

  return {
    url,
    issuer,
    requests,
    issued,
    async visit(address, person) {
      const jar = new Map<string, string>();
      let next = new URL(address);
      for (let hop = 0; hop < 10; hop += 1) {
        if (next.href.startsWith(CALLBACK)) return next;
        const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
        const answer = await fetch(next, { redirect: 'manual', headers: { cookie, 'x-person': person } });
        for (const one of answer.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(one) ?? [];
          jar.set(name, value);
        }
        const location = answer.headers.get('location');
        if (location === null) throw new Error(`${answer.status} ${await answer.text()}`);
        next = new URL(location, next);
      }
      throw new Error('too many redirects');
    },
    async expire(person) {
      for (const value of accounts.get(person)?.access ?? [])
        await (await provider.AccessToken.find(value))?.destroy();
    },
    async countTokens(person) {
      const { access, refresh } = accountOf(person);
      const found = await Promise.all([
        ...access.map((value) => provider.AccessToken.find(value)),
        ...refresh.map((value) => provider.RefreshToken.find(value)),
      ]);
      return found.filter((token) => token !== undefined && !token.isExpired).length;
    },
    async revoke(person) {
      for (const grant of accounts.get(person)?.grants ?? []) {
        await provider.AccessToken.revokeByGrantId(grant);
        await provider.RefreshToken.revokeByGrantId(grant);
      }
    },
  };
}

async function listen(server: ReturnType<typeof createServer>): Promise<string> {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
