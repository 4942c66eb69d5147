import type { ToolOffer, ToolRegistry } from '@questline/core/ports';
import { fits, type McpTool } from './offers.ts';
import { checkServers, type McpServerOptions } from './options.ts';
import { createToolServer, type ToolServer } from './server.ts';

export interface McpToolsOptions {
  readonly servers: readonly McpServerOptions[];
  /** How long a request waits for a server that is not connected yet, in milliseconds. Default 5000. */
  readonly connectTimeoutMs?: number;
  /** Timeout of one tool call, in milliseconds. Default 60,000. */
  readonly callTimeoutMs?: number;
  /** Delay before an unreachable server is tried again, in milliseconds. Default 30,000. */
  readonly retryAfterMs?: number;
  /** Called when a server fails, for the host's log. Default: none. */
  readonly onError?: (error: unknown, serverId: string) => void;
  /** Epoch milliseconds. Default: the system's clock. */
  readonly now?: () => number;
}

/** The tools of all servers. Pass it to `createServices` in the setting `tools`. */
export interface McpTools extends ToolRegistry {
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
  const terms = {
    connectTimeoutMs: options.connectTimeoutMs ?? 5000,
    callTimeoutMs: options.callTimeoutMs ?? 60_000,
    retryAfterMs: options.retryAfterMs ?? 30_000,
    now: options.now ?? Date.now,
    onError: quietly(options.onError),
  };
  const servers = options.servers.map((server) => ({
    id: server.id,
    server: createToolServer(server, terms),
  }));

  const all = async (): Promise<readonly McpTool[]> =>
    (await Promise.all(servers.map(({ server }) => server.tools()))).flat();

  /** The server whose prefix a name has; other servers are not connected. */
  const find = async (id: string): Promise<{ tool: McpTool; server: ToolServer } | undefined> => {
    const owner = servers.find((candidate) => id.startsWith(`${candidate.id}__`));
    const tool = (await owner?.server.tools())?.find(({ offer }) => offer.id === id);
    return owner === undefined || tool === undefined ? undefined : { tool, server: owner.server };
  };

  return {
    list: async () => offersIn(await all()),
    find: async (id) => (await find(id))?.tool.offer,
    select: async (message) => offersIn((await all()).filter((tool) => fits(tool, message))),
    async run({ tool: id, input }, { signal }) {
      const found = await find(id);
      if (found === undefined) return { content: `The tool ${id} cannot be reached now.`, isError: true };
      return found.server.call(found.tool.name, input, signal);
    },
    async close() {
      await Promise.all(servers.map(({ server }) => server.close()));
    },
  };
}

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
