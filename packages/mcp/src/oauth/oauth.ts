import { createGuardedFetch } from '@questline/providers/web';
import type { UserAuthorization } from '../options.ts';
import { type BegunAuthorization, beginAuthorization, type FlowParts, getClientMetadata } from './begin.ts';
import { createFetchFor } from './fetch.ts';
import { type AuthorizationAnswer, finishAuthorization } from './finish.ts';
import type { AuthorizedServer, OAuthOptions } from './options.ts';
import { renewTokens } from './renew.ts';
import { revokeTokens } from './revoke.ts';
import { createVault, toPlace } from './vault.ts';

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
  /**
   * Deletes the tokens, then revokes them at the authorization server, if it permits that, for at most 5 seconds. A failure of
   * the revocation is reported to `onError`. @returns whether there were any.
   */
  disconnect(userId: string, serverId: string): Promise<boolean>;
  /** The metadata of the client, for `clientMetadataUrl`. */
  readonly clientMetadata: Readonly<Record<string, unknown>> | undefined;
}

export interface OAuthParts extends ToolServerOAuth {
  /** The tokens of one user for one server. */
  authorize(server: AuthorizedServer, userId: string): UserAuthorization;
  /** Identifies the authorization that the tokens come from; undefined without one. */
  getGrant(server: AuthorizedServer, userId: string): Promise<string | undefined>;
}

export function createOAuth(
  options: OAuthOptions,
  servers: readonly AuthorizedServer[],
  { now, onError }: Pick<FlowParts, 'now' | 'onError'>,
): OAuthParts {
  const { isAllowedAddress, clientMetadataUrl } = options;
  const guarded = createGuardedFetch({ ...(isAllowedAddress && { isAllowedAddress }) });
  const vault = createVault(options.store, options.secretEncryptionKey, now);
  const parts: FlowParts = { options, vault, now, onError, fetchFor: createFetchFor(guarded) };

  return {
    authorize(server, userId) {
      const place = toPlace(server, userId);
      return {
        token: async () => (await vault.get(place))?.value.tokens.access_token,
        onUnauthorized: ({ token }) => renewTokens(parts, server, userId, token),
        begin: async (scope) => (await beginAuthorization(parts, server, userId, scope)).url,
      };
    },

    getGrant: async (server, userId) => (await vault.get(toPlace(server, userId)))?.value.grant,

    list: (userId) =>
      Promise.all(
        servers.map(async (server) => ({
          id: server.id,
          connected: (await vault.get(toPlace(server, userId))) !== undefined,
        })),
      ),

    async begin(userId, serverId) {
      const server = servers.find(({ id }) => id === serverId);
      return server && beginAuthorization(parts, server, userId);
    },

    finish: (userId, answer) => finishAuthorization(parts, servers, userId, answer),

    async disconnect(userId, serverId) {
      const withdrawn = await vault.withdraw({ userId, serverId });
      if (withdrawn === undefined) return false;
      const { value } = withdrawn;
      const server = servers.find(({ id }) => id === serverId);
      // The server that the tokens were for, which the options may no longer have.
      if (value !== undefined)
        await revokeTokens(parts, { ...server, id: serverId, url: value.serverUrl }, value);
      return true;
    },

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
