import { randomBytes } from 'node:crypto';
import {
  auth,
  extractWWWAuthenticateParams,
  type FetchLike,
  type OAuthClientMetadata,
  type OAuthDiscoveryState,
  resourceUrlFromServerUrl,
  type StoredOAuthClientInformation,
} from '@modelcontextprotocol/client';
import { toSafeError } from './fetch.ts';
import type { AuthorizedServer, OAuthOptions } from './options.ts';
import { type Begun, toPlace, type Vault } from './vault.ts';

const STATE_BYTES = 32;

export interface FlowParts {
  readonly options: OAuthOptions;
  readonly vault: Vault;
  /** Calls only the tool server, and addresses that are allowed. */
  readonly fetchFor: (server: AuthorizedServer) => FetchLike;
  /** Gets failures that change no answer. */
  readonly onError: (error: unknown, serverId: string) => void;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** What the user opens. */
export interface BegunAuthorization {
  readonly url: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/**
 * Finds the authorization server, registers this deployment there if needed, and prepares the request with PKCE.
 * @param scope asked for in addition to what the user has granted.
 */
export async function beginAuthorization(
  { options, vault, fetchFor, now }: FlowParts,
  server: AuthorizedServer,
  userId: string,
  scope?: string,
): Promise<BegunAuthorization> {
  const fetchFn = fetchFor(server);
  const place = toPlace(server, userId);
  const challenge = await askForChallenge(server, fetchFn);
  const granted = (await vault.get(place))?.value.tokens.scope;
  const wanted = scope === undefined ? challenge.scope : joinScopes(granted, scope);
  const state = randomBytes(STATE_BYTES).toString('base64url');
  const found: {
    verifier?: string;
    url?: URL;
    discovery?: OAuthDiscoveryState;
    client?: StoredOAuthClientInformation | undefined;
    resource?: string;
  } = {};
  const { clientMetadataUrl } = options;

  await auth(
    {
      redirectUrl: options.redirectUrl,
      clientMetadata: getClientMetadata(options),
      ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
      state: () => state,
      async clientInformation(context) {
        found.client = await findClient(server, context?.issuer ?? '');
        return found.client;
      },
      async saveClientInformation(client, context) {
        found.client = client;
        await vault.saveClient(client, ...clientKey(options, server, context?.issuer ?? ''));
      },
      tokens: () => undefined,
      saveTokens: () => undefined,
      redirectToAuthorization(url) {
        found.url = url;
      },
      saveCodeVerifier(verifier) {
        found.verifier = verifier;
      },
      codeVerifier: () => found.verifier ?? '',
      saveDiscoveryState(discovery) {
        found.discovery = discovery;
      },
      saveResourceUrl(resource) {
        found.resource = resource;
      },
    },
    {
      serverUrl: server.url,
      fetchFn,
      ...(challenge.resourceMetadataUrl && { resourceMetadataUrl: challenge.resourceMetadataUrl }),
      ...(wanted !== undefined && { scope: wanted }),
    },
  ).catch((error: unknown) => {
    throw toSafeError(error);
  });

  const { verifier, url, discovery, client } = found;
  if (verifier === undefined || url === undefined || discovery === undefined || client === undefined) {
    throw new Error('the authorization cannot begin');
  }
  checkAuthorizationUrl(url, server);
  // The SDK names the resource only if metadata does.
  const resource = found.resource ?? resourceUrlFromServerUrl(server.url).href;
  url.searchParams.set('resource', resource);
  const begun: Begun = {
    serverUrl: server.url,
    verifier,
    discovery,
    client,
    resource,
    authorizationServer: discovery.authorizationServerUrl,
    scope: wanted,
  };
  return { url: url.href, expiresAt: await vault.begin(state, place, begun) };

  async function findClient(
    { client: given }: AuthorizedServer,
    issuer: string,
  ): Promise<StoredOAuthClientInformation | undefined> {
    if (given !== undefined) {
      // Another authorization server must not get the secret.
      if (given.issuer !== issuer) throw new Error('the tool server names another authorization server');
      return {
        client_id: given.id,
        issuer,
        ...(given.secret !== undefined && { client_secret: given.secret }),
      };
    }
    const stored = await vault.getClient(...clientKey(options, server, issuer));
    if (stored === undefined) return undefined;
    const expiresAt = 'client_secret_expires_at' in stored ? Number(stored.client_secret_expires_at ?? 0) : 0;
    return expiresAt > 0 && expiresAt * 1000 <= now() ? undefined : stored;
  }
}

/** The registration of a deployment at an authorization server, for one tool server. */
export function clientKey(
  { redirectUrl, clientMetadataUrl = '' }: OAuthOptions,
  { id }: AuthorizedServer,
  issuer: string,
): readonly string[] {
  return [id, issuer, redirectUrl, clientMetadataUrl];
}

/** What authorization servers learn about this deployment. */
export function getClientMetadata({
  clientName = 'Questline',
  redirectUrl,
}: OAuthOptions): OAuthClientMetadata {
  return {
    client_name: clientName,
    redirect_uris: [redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  };
}

/** A request without a token: the refusal names the metadata and the scope. */
async function askForChallenge(
  { url }: AuthorizedServer,
  fetchFn: FetchLike,
): Promise<{ resourceMetadataUrl?: URL; scope?: string }> {
  const response = await fetchFn(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  });
  await response.body?.cancel();
  if (response.status !== 401) return {};
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
  return { ...(resourceMetadataUrl && { resourceMetadataUrl }), ...(scope !== undefined && { scope }) };
}

function joinScopes(granted: string | undefined, asked: string): string {
  return [...new Set(`${granted ?? ''} ${asked}`.split(' ').filter((one) => one !== ''))].join(' ');
}

/** The address is opened in the user's browser. */
function checkAuthorizationUrl({ protocol }: URL, { url }: AuthorizedServer): void {
  const isAllowed = protocol === 'https:' || (protocol === 'http:' && new URL(url).protocol === 'http:');
  if (!isAllowed) throw new Error('the authorization server names an address that is not https');
}
