import { createHash } from 'node:crypto';
import type { ToolScope } from '@questline/core/ports';
import type { McpServerOptions, ToolUser, UserAuthorization } from './options.ts';
import { createToolServer, type ToolServer, type ToolServerSettings } from './server.ts';

export interface PoolSettings extends ToolServerSettings {
  /** Undefined: the server is called without tokens of users. */
  readonly authorize: ((user: ToolUser) => UserAuthorization | Promise<UserAuthorization>) | undefined;
  /** Identifies the authorization by the user. Undefined: users do not authorize the server. */
  readonly getGrant: ((user: ToolUser) => Promise<string | undefined>) | undefined;
  /** Maximum number of idle connections for each server. */
  readonly maxConnections: number;
  /** Life of an unused connection, in milliseconds. */
  readonly idleMs: number;
}

/** The connections of one tool server: one for each credential. */
export interface ServerPool {
  readonly id: string;
  /** Undefined for a server in a child process. */
  readonly url: string | undefined;
  /**
   * Works with the server and the credential of the user. The connection stays open during the work. Rejects if the host's
   * `headers` fails, and after `close`.
   */
  use<T>(scope: ToolScope, work: (server: ToolServer) => Promise<T>): Promise<T>;
  /** Never rejects. */
  close(): Promise<void>;
}

interface Entry {
  readonly server: ToolServer;
  uses: number;
  usedAt: number;
}

export function createServerPool(options: McpServerOptions, settings: PoolSettings): ServerPool {
  // In the order of use.
  const entries = new Map<string, Entry>();
  let isClosed = false;
  const perUser =
    'url' in options && (typeof options.headers === 'function' || settings.authorize !== undefined);

  const open = ({ userId }: ToolScope, headers: Headers, grant: string | undefined): Entry => {
    if (isClosed) throw new Error('the tools are closed');
    const key = perUser ? keyOf(userId, headers, grant) : '';
    const authorize = async () => ({ headers, authorization: await settings.authorize?.({ userId }) });
    const entry = entries.get(key) ?? {
      server: createToolServer(options, authorize, settings),
      uses: 0,
      usedAt: 0,
    };
    entries.delete(key);
    entries.set(key, entry);
    return entry;
  };

  /** Closes what is unused. */
  const evict = (): void => {
    const oldest = settings.now() - settings.idleMs;
    const idle = [...entries].filter(([, { uses }]) => uses === 0);
    for (const [index, [key, { server, usedAt }]] of idle.entries()) {
      if (usedAt > oldest && idle.length - index <= settings.maxConnections) continue;
      entries.delete(key);
      void server.close();
    }
  };

  return {
    id: options.id,
    url: 'url' in options ? options.url : undefined,

    async use(scope, work) {
      const headers = await getHeaders(options, scope);
      const entry = open(scope, headers, await settings.getGrant?.({ userId: scope.userId }));
      entry.uses += 1;
      try {
        return await work(entry.server);
      } finally {
        entry.uses -= 1;
        entry.usedAt = settings.now();
        if (perUser) evict();
      }
    },

    async close() {
      isClosed = true;
      await Promise.all([...entries.values()].map(({ server }) => server.close()));
    },
  };
}

type Headers = Readonly<Record<string, string>>;

async function getHeaders(options: McpServerOptions, scope: ToolScope): Promise<Headers> {
  if (!('url' in options)) return {};
  const { headers = {} } = options;
  return { ...(typeof headers === 'function' ? await headers(scope) : headers) };
}

/** Never shared between users, whatever the host's function returns. */
function keyOf(userId: string, headers: Headers, grant: string | undefined): string {
  const sorted = Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([userId, sorted, grant]))
    .digest('base64');
}
