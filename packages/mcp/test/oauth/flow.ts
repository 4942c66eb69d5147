import { createMemoryStore } from '@questline/core/memory';
import type { Store } from '@questline/core/ports';
import { beginAuthorization, type FlowParts } from '../../src/oauth/begin.ts';
import { finishAuthorization } from '../../src/oauth/finish.ts';
import type { AuthorizedServer, OAuthOptions } from '../../src/oauth/options.ts';
import { createVault } from '../../src/oauth/vault.ts';

export const SERVER: AuthorizedServer = { id: 'diary', url: 'https://tools.test/mcp' };
export const ISSUER = 'https://login.test';
export const NOW = 1_000_000;

/** A request to the tool server or to the authorization server. */
export interface Asked {
  readonly url: string;
  readonly init: RequestInit;
  /** The form or the JSON of the body. */
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface Flow {
  readonly parts: FlowParts;
  readonly store: Store;
  readonly errors: unknown[];
  /** All requests except those for metadata. */
  readonly asked: Asked[];
  /** Answers by URL; the usual ones can be replaced. */
  readonly answers: Map<string, (asked: Asked) => Response | Promise<Response>>;
  now: number;
  /** Begins an authorization. @returns its state. */
  begin(userId?: string, server?: AuthorizedServer): Promise<string>;
  /** Begins and finishes an authorization. */
  connect(userId?: string, server?: AuthorizedServer): Promise<void>;
  /** The requests to an address of the authorization server. */
  to(path: string): readonly Asked[];
}

/** Authorizations with servers in this process. */
export function createFlow(options: Partial<OAuthOptions> = {}): Flow {
  const store = createMemoryStore();
  const errors: unknown[] = [];
  const asked: Asked[] = [];
  const answers: Flow['answers'] = new Map<string, (one: Asked) => Response | Promise<Response>>([
    [SERVER.url, () => new Response(null, { status: 401, headers: { 'www-authenticate': 'Bearer' } })],
    [
      'https://tools.test/.well-known/oauth-protected-resource/mcp',
      () => Response.json({ resource: SERVER.url, authorization_servers: [ISSUER] }),
    ],
    [`${ISSUER}/.well-known/oauth-authorization-server`, () => Response.json(metadata())],
    [
      `${ISSUER}/register`,
      () => Response.json({ client_id: 'c', redirect_uris: ['https://ai.test/callback'] }, { status: 201 }),
    ],
    [
      `${ISSUER}/token`,
      ({ fields }) =>
        Response.json({
          access_token: `access of ${fields.code ?? fields.refresh_token}`,
          token_type: 'Bearer',
          refresh_token: `refresh of ${fields.code ?? fields.refresh_token}`,
        }),
    ],
    [`${ISSUER}/revoke`, () => new Response('')],
  ]);
  const fetchFn: ReturnType<FlowParts['fetchFor']> = async (url, init = {}) => {
    const request = { url: String(url), init, fields: readFields(init.body) };
    if (!request.url.includes('/.well-known/')) asked.push(request);
    init.signal?.throwIfAborted();
    return (await answers.get(request.url)?.(request)) ?? new Response(null, { status: 404 });
  };
  const all: OAuthOptions = {
    store,
    secretEncryptionKey: 'b'.repeat(64),
    redirectUrl: 'https://ai.test/callback',
    ...options,
  };
  const flow: Flow = {
    ...{ store, errors, asked, answers, now: NOW },
    parts: {
      options: all,
      vault: createVault(store, all.secretEncryptionKey, () => flow.now),
      fetchFor: () => fetchFn,
      onError: (error, id) => void errors.push([error, id]),
      now: () => flow.now,
    },
    async begin(userId = 'ada', server = SERVER) {
      const { url } = await beginAuthorization(flow.parts, server, userId);
      return new URL(url).searchParams.get('state') ?? '';
    },
    async connect(userId = 'ada', server = SERVER) {
      const state = await flow.begin(userId, server);
      await finishAuthorization(flow.parts, [server], userId, { state, code: `code-${userId}` });
    },
    to: (path) => asked.filter(({ url }) => url === `${ISSUER}${path}`),
  };
  return flow;
}

/** The metadata of the authorization server. */
export function metadata(more: object = {}): object {
  return {
    issuer: ISSUER,
    authorization_endpoint: `${ISSUER}/authorize`,
    token_endpoint: `${ISSUER}/token`,
    registration_endpoint: `${ISSUER}/register`,
    revocation_endpoint: `${ISSUER}/revoke`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    ...more,
  };
}

function readFields(body: RequestInit['body']): Asked['fields'] {
  if (body instanceof URLSearchParams) return Object.fromEntries(body);
  return typeof body === 'string' && body.startsWith('{') ? JSON.parse(body) : {};
}
