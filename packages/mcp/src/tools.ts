import type { ToolOffer, ToolRegistry, ToolScope } from '@questline/core/ports';
import { createOAuth, type OAuthParts, type ToolServerOAuth } from './oauth/oauth.ts';
import { checkOAuth, type OAuthOptions } from './oauth/options.ts';
import { fits, type McpTool } from './offers.ts';
import { checkServers, type HttpServerOptions, type McpServerOptions, type ToolUser } from './options.ts';
import { createServerPool, type ServerPool } from './pool.ts';
import type { ToolServer } from './server.ts';

export interface McpToolsOptions {
  readonly servers: readonly McpServerOptions[];
  /** How long a request waits for a server that is not connected yet, in milliseconds. Default 5000. */
  readonly connectTimeoutMs?: number;
  /** Timeout of one tool call, in milliseconds. Default 60,000. */
  readonly callTimeoutMs?: number;
  /** Delay before an unreachable server is tried again, in milliseconds. Default 30,000. */
  readonly retryAfterMs?: number;
  /** Maximum number of idle connections for each server with a credential per user. Default 100. */
  readonly maxConnections?: number;
  /** Life of an unused connection of a user, in milliseconds. Default 600,000. */
  readonly idleMs?: number;
  /** For servers with `authorize: 'oauth'`. */
  readonly oauth?: OAuthOptions;
  /** Called when a server fails, for the host's log. Default: none. */
  readonly onError?: (error: unknown, serverId: string) => void;
  /** Epoch milliseconds. Default: the system's clock. */
  readonly now?: () => number;
}

/** The tools of all servers. Pass it to `createServices` in the setting `tools`. */
export interface McpTools extends ToolRegistry {
  /** The authorizations of users, with the option `oauth`. */
  readonly oauth?: ToolServerOAuth;
  /** Closes every connection and child process; afterwards there are no tools. */
  close(): Promise<void>;
}

/**
 * Creates tools from Model Context Protocol servers. Connects when a turn first needs tools. A server that cannot be
 * reached offers no tools; a failure during a call becomes an error result for the model.
 * @throws RangeError, TypeError for wrong options.
 */
export function createMcpTools(options: McpToolsOptions): McpTools {
  checkServers(options.servers);
  if (options.oauth !== undefined) checkOAuth(options.oauth);
  const settings = {
    connectTimeoutMs: options.connectTimeoutMs ?? 5000,
    callTimeoutMs: options.callTimeoutMs ?? 60_000,
    retryAfterMs: options.retryAfterMs ?? 30_000,
    maxConnections: options.maxConnections ?? 100,
    idleMs: options.idleMs ?? 600_000,
    now: options.now ?? Date.now,
    onError: quietly(options.onError),
  };
  const authorized = options.servers.filter(isAuthorizedByUsers);
  const oauth = options.oauth && createOAuth(options.oauth, authorized, settings);
  const pools = options.servers.map((server) =>
    createServerPool(server, {
      ...settings,
      authorize: getAuthorize(server, oauth),
      getGrant: getGrant(server, oauth),
    }),
  );

  /** Undefined if the host cannot give the credential of the user. */
  const use = async <T>(
    pool: ServerPool,
    scope: ToolScope,
    work: (server: ToolServer) => Promise<T>,
  ): Promise<T | undefined> => {
    try {
      return await pool.use(scope, work);
    } catch (error) {
      settings.onError(error, pool.id);
      return undefined;
    }
  };

  const toolsOf = async (pool: ServerPool, scope: ToolScope): Promise<readonly McpTool[]> =>
    (await use(pool, scope, (server) => server.tools())) ?? [];

  const all = async (scope: ToolScope): Promise<readonly McpTool[]> =>
    (await Promise.all(pools.map((pool) => toolsOf(pool, scope)))).flat();

  /** Only the server whose prefix the name has is connected. */
  const poolOf = (id: string) => pools.find((pool) => id.startsWith(`${pool.id}__`));

  return {
    ...(oauth !== undefined && { oauth }),
    list: async (scope) => offersIn(await all(scope)),
    async listServer(serverId, scope) {
      const pool = pools.find(({ id }) => id === serverId);
      if (pool === undefined) return undefined;
      const { url } = pool;
      const listed = await use(pool, scope, (server) => server.list());
      return { ...(listed ?? NO_CREDENTIAL), ...(url !== undefined && { url }) };
    },
    async find(id, scope) {
      const pool = poolOf(id);
      const tools = pool === undefined ? [] : await toolsOf(pool, scope);
      return tools.find(({ offer }) => offer.id === id)?.offer;
    },
    select: async (message, scope) => offersIn((await all(scope)).filter((tool) => fits(tool, message))),
    async run({ tool: id, input }, context) {
      const pool = poolOf(id);
      const answer =
        pool &&
        (await use(pool, context, async (server) => {
          // An authorization that ended during the turn: the user gets the address of a new one.
          const isMeant = ({ offer, connects }: McpTool) => offer.id === id || connects === true;
          const found = (await server.tools()).find(isMeant);
          if (found === undefined) return undefined;
          const result = await server.call(found, input, context.signal);
          return found.offer.id === id ? result : { ...result, isError: true };
        }));
      if (answer !== undefined) return answer;
      const failure = { type: 'http', code: 502 } as const;
      return { content: `The tool ${id} cannot be reached now.`, isError: true, failure };
    },
    async disconnect(userId, serverId) {
      await oauth?.disconnect(userId, serverId);
    },
    async close() {
      await Promise.all(pools.map((pool) => pool.close()));
    },
  };
}

const NO_CREDENTIAL = { tools: [], error: 'The tool server has no credential for the user.' };

function offersIn(tools: readonly McpTool[]): readonly ToolOffer[] {
  return tools.map(({ offer }) => offer);
}

/** A host's broken reporter must not break a turn. */
function quietly(report: McpToolsOptions['onError']): (error: unknown, serverId: string) => void {
  return (error, serverId) => {
    try {
      report?.(error, serverId);
    } catch {
      // A failing error handler is ignored.
    }
  };
}

function isAuthorizedByUsers(server: McpServerOptions): server is HttpServerOptions {
  return 'url' in server && server.authorize === 'oauth';
}

/** @throws TypeError without the option `oauth`. */
function getAuthorize(server: McpServerOptions, oauth: OAuthParts | undefined) {
  if (!('url' in server)) return undefined;
  const { authorize } = server;
  if (authorize !== 'oauth') return authorize;
  if (oauth === undefined) throw new TypeError(`the tool server '${server.id}' needs the option oauth`);
  return ({ userId }: ToolUser) => oauth.authorize(server, userId);
}

/** Undefined for servers that users do not authorize themselves. */
function getGrant(server: McpServerOptions, oauth: OAuthParts | undefined) {
  if (oauth === undefined || !isAuthorizedByUsers(server)) return undefined;
  return ({ userId }: ToolUser) => oauth.getGrant(server, userId);
}
