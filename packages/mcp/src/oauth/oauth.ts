import type { FetchLike } from '@modelcontextprotocol/client';
import { createGuardedFetch } from '@questline/providers/web';
import type { UserAuthorization } from '../options.ts';
import { type BegunAuthorization, beginAuthorization, type FlowParts, getClientMetadata } from './begin.ts';
import { type AuthorizationAnswer, finishAuthorization } from './finish.ts';
import type { AuthorizedServer, OAuthOptions } from './options.ts';
import { renewTokens } from './renew.ts';
import { createVault } from './vault.ts';

const TIMEOUT_MS = 10_000;

/** A tool server that users authorize, as one user sees it. */
export interface ToolServerAccess {
  readonly id: string;
  readonly connected: boolean;
}

/** The authorizations of the users of this deployment. */
export interface ToolServerOAuth {
  /** Lists the servers that users authorize, in the order of the options. */
  list(userId: string): Promise<readonly ToolServerAccess[]>;
  /** Begins an authorization. @returns undefined for an unknown server. */
  begin(userId: string, serverId: string): Promise<BegunAuthorization | undefined>;
  /** Finishes it. @returns the id of the server. @throws AuthorizationRefused */
  finish(userId: string, answer: AuthorizationAnswer): Promise<string>;
  /** Deletes the tokens. @returns whether there were any. */
  disconnect(userId: string, serverId: string): Promise<boolean>;
  /** The metadata of the client, for `clientMetadataUrl`. */
  readonly clientMetadata: Readonly<Record<string, unknown>> | undefined;
}

export interface OAuthParts extends ToolServerOAuth {
  /** The tokens of one user for one server. */
  authorize(server: AuthorizedServer, userId: string): UserAuthorization;
}

export function createOAuth(
  options: OAuthOptions,
  servers: readonly AuthorizedServer[],
  now: () => number,
): OAuthParts {
  const { isAllowedAddress, clientMetadataUrl } = options;
  const guarded = createGuardedFetch({ ...(isAllowedAddress && { isAllowedAddress }) });
  const vault = createVault(options.store, options.secretEncryptionKey, now);
  const parts: FlowParts = { options, vault, now, fetchFor: (server) => fetchFor(server, guarded) };

  return {
    authorize(server, userId) {
      const place = { userId, serverId: server.id };
      let sent: string | undefined;
      return {
        async token() {
          sent = (await vault.get(place))?.value.tokens.access_token;
          return sent;
        },
        onUnauthorized: () => renewTokens(parts, server, userId, sent),
        begin: async (scope) => (await beginAuthorization(parts, server, userId, scope)).url,
      };
    },

    async list(userId) {
      const connected = new Set((await vault.list(userId)).map(({ serverId }) => serverId));
      return servers.map(({ id }) => ({ id, connected: connected.has(id) }));
    },

    async begin(userId, serverId) {
      const server = servers.find(({ id }) => id === serverId);
      return server && beginAuthorization(parts, server, userId);
    },

    finish: (userId, answer) => finishAuthorization(parts, servers, userId, answer),

    disconnect: (userId, serverId) => vault.remove({ userId, serverId }),

    clientMetadata:
      clientMetadataUrl === undefined
        ? undefined
        : {
            ...getClientMetadata(options),
            client_id: clientMetadataUrl,
            token_endpoint_auth_method: 'none',
          },
  };
}

/** The host has chosen the origin of the tool server; all other addresses come from others. */
function fetchFor({ url }: AuthorizedServer, guarded: FetchLike): FetchLike {
  const { origin } = new URL(url);
  return (target, init = {}) => {
    if (new URL(target).origin !== origin) return guarded(target, init);
    return fetch(target, { ...init, signal: init.signal ?? AbortSignal.timeout(TIMEOUT_MS) });
  };
}
