import { createHash } from 'node:crypto';
import type { ToolScope } from '@questline/core/ports';
import type { McpServerOptions, ToolUser, UserAuthorization } from './options.ts';
import { createToolServer, type ToolServer, type ToolServerSettings } from './server.ts';

export interface PoolSettings extends ToolServerSettings {
  /** Undefined: the server is called without tokens of users. */
  readonly authorize: ((user: ToolUser) => UserAuthorization | Promise<UserAuthorization>) | undefined;
  /** Maximum number of idle connections for each server. */
  readonly maxConnections: number;
  /** Life of an unused connection, in milliseconds. */
  readonly idleMs: number;
}

/** The connections of one tool server: one for each credential. */
export interface ServerPool {
  readonly id: string;
  /** The server with the credential of the user. Rejects if the host's `headers` fails. */
  open(scope: ToolScope): Promise<ToolServer>;
  /** Never rejects. */
  close(): Promise<void>;
}

interface Entry {
  readonly server: ToolServer;
  readonly usedAt: number;
}

export function createServerPool(options: McpServerOptions, settings: PoolSettings): ServerPool {
  // In the order of use.
  const entries = new Map<string, Entry>();
  const perUser =
    'url' in options && (typeof options.headers === 'function' || settings.authorize !== undefined);

  /** Closes what is unused, except `current`. Work in progress keeps its connection. */
  const evict = (current: ToolServer): void => {
    const oldest = settings.now() - settings.idleMs;
    let surplus = entries.size - settings.maxConnections;
    for (const [key, { server, usedAt }] of entries) {
      if (surplus <= 0 && usedAt > oldest) break;
      surplus -= 1;
      if (server.calls > 0 || server === current) continue;
      entries.delete(key);
      void server.close();
    }
  };

  return {
    id: options.id,

    async open(scope) {
      const headers = await getHeaders(options, scope);
      const key = perUser ? keyOf(scope.userId, headers) : '';
      const server = entries.get(key)?.server ?? createToolServer(options, authorize, settings);
      entries.delete(key);
      entries.set(key, { server, usedAt: settings.now() });
      if (perUser) evict(server);
      return server;

      async function authorize() {
        const { userId } = scope;
        return {
          headers,
          authorization: await settings.authorize?.({ userId }),
        };
      }
    },

    async close() {
      await Promise.all([...entries.values()].map(({ server }) => server.close()));
    },
  };
}

async function getHeaders(
  options: McpServerOptions,
  scope: ToolScope,
): Promise<Readonly<Record<string, string>>> {
  if (!('url' in options)) return {};
  const { headers = {} } = options;
  return { ...(typeof headers === 'function' ? await headers(scope) : headers) };
}

/** Never shared between users, whatever the host's function returns. */
function keyOf(userId: string, headers: Readonly<Record<string, string>>): string {
  const sorted = Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([userId, sorted]))
    .digest('base64');
}
