import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { onTestFinished } from 'vitest';

/** What an endpoint of the authorization server gets: the form or JSON fields. */
export interface LoginRequest {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly fields: Readonly<Record<string, string>>;
}

export interface LoginAnswer {
  readonly status?: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export type LoginEndpoint = (request: LoginRequest) => LoginAnswer | Promise<LoginAnswer>;

/** A tool server and an authorization server that answer as a test says. */
export interface ScriptedLogin {
  readonly url: string;
  readonly issuer: string;
  /** The requests to the authorization server, without those for metadata. */
  readonly requests: readonly LoginRequest[];
  /** `Authorization` of each request to the tool server. */
  readonly tokens: readonly (string | undefined)[];
  /** Access tokens that the tool server accepts, with the person that each is for. */
  readonly accepted: Map<string, string>;
  /** Replaces the answers of `/token`, `/register`, `/revoke`. */
  readonly endpoints: Map<string, LoginEndpoint>;
  /** Whether the tool server names the authorization server. False: it is its own one. */
  isSeparate: boolean;
  /** Answers calls of the tool server that have a valid token. */
  answerCall?: (request: IncomingMessage) => LoginAnswer | undefined;
  /** Added to the metadata of the authorization server; null: it has none. */
  metadata: Readonly<Record<string, unknown>> | null;
}

export async function startScriptedLogin(): Promise<ScriptedLogin> {
  const requests: LoginRequest[] = [];
  const tokens: (string | undefined)[] = [];
  const tools = createServer((request, response) => void answerTools(request, response));
  const login = createServer((request, response) => void answerLogin(request, response));
  const url = `${await listen(tools)}/mcp`;
  const issuer = await listen(login);
  const state = { count: 0 };
  const made: ScriptedLogin = {
    ...{
      url,
      issuer,
      requests,
      tokens,
      accepted: new Map(),
      endpoints: new Map(),
      metadata: {},
      isSeparate: true,
    },
  };
  const usual: Readonly<Record<string, LoginEndpoint>> = {
    '/register': () => ({
      status: 201,
      body: {
        client_id: 'client',
        client_secret: 'client-secret',
        redirect_uris: ['http://127.0.0.1/callback'],
      },
    }),
    // The code names the person, the tokens are numbered.
    '/token'({ fields: { code, refresh_token: refreshed } }) {
      state.count += 1;
      const [, person = ''] = /^(?:code|refresh)-(\w+)/.exec(code ?? refreshed ?? '') ?? [];
      const access = `access-${person}-${state.count}`;
      made.accepted.set(access, person);
      const next = `refresh-${person}-${state.count}`;
      return { body: { access_token: access, token_type: 'Bearer', expires_in: 60, refresh_token: next } };
    },
    '/revoke': () => ({}),
  };

  async function answerLogin(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '', issuer);
    if (pathname.startsWith('/.well-known/')) {
      if (made.metadata === null) return send(response, { status: 404 });
      const known = {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        registration_endpoint: `${issuer}/register`,
        revocation_endpoint: `${issuer}/revoke`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
      };
      return send(response, { body: { ...known, ...made.metadata } });
    }
    const body = await text(request);
    const isJson = request.headers['content-type']?.includes('json') === true;
    const fields = isJson ? JSON.parse(body) : Object.fromEntries(new URLSearchParams(body));
    const asked = { path: pathname, authorization: request.headers.authorization, fields };
    requests.push(asked);
    const endpoint = made.endpoints.get(pathname) ?? usual[pathname];
    return send(response, (await endpoint?.(asked)) ?? { status: 404 });
  }

  async function answerTools(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '', url);
    if (pathname.startsWith('/.well-known/')) {
      if (!made.isSeparate) return send(response, { status: 404 });
      return send(response, { body: { resource: url, authorization_servers: [issuer] } });
    }
    if (pathname !== '/mcp') return answerLogin(request, response);
    const { authorization } = request.headers;
    tokens.push(authorization);
    const person = made.accepted.get(authorization?.replace('Bearer ', '') ?? '');
    if (person === undefined)
      return send(response, { status: 401, headers: { 'www-authenticate': 'Bearer' } });
    const answer = made.answerCall?.(request);
    if (answer !== undefined) return send(response, answer);
    const server = new McpServer({ name: 'diary', version: '1.0.0' });
    server.registerTool(`diary_of_${person}`, { annotations: { readOnlyHint: true } }, () => ({
      content: [{ type: 'text', text: `Dear ${person}` }],
    }));
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport as Transport);
    await transport.handleRequest(request, response);
  }
  return made;
}

function send(response: ServerResponse, { status = 200, body, headers = {} }: LoginAnswer): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(body === undefined ? '' : JSON.stringify(body));
}

async function listen(server: ReturnType<typeof createServer>): Promise<string> {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
