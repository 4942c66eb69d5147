import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type Tool, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import type { McpServerOptions } from './options.ts';

/** The maximum of pages in a list of tools. */
const MAX_PAGES = 50;

export interface Times {
  /** Timeout for connecting and listing tools, in milliseconds. */
  readonly connectTimeoutMs: number;
  /** Timeout of one call, in milliseconds. */
  readonly callTimeoutMs: number;
}

/** A server that has answered. */
export interface Connection {
  readonly client: Client;
  /** The current tools; listed again when the server reports a change. */
  tools(): Promise<readonly Tool[]>;
  readonly isOpen: boolean;
  /** Never rejects. */
  close(): Promise<void>;
}

/** Connects and lists the tools. Rejects when the server does not answer in time. */
export async function connect(
  server: McpServerOptions,
  { connectTimeoutMs }: Times,
  onError: (error: unknown) => void,
): Promise<Connection> {
  const client = new Client({ name: 'questline', version: '0.1.0' });
  const transport = transportTo(server);
  let isOpen = true;
  let listed: Promise<readonly Tool[]> | undefined;
  client.onclose = () => {
    isOpen = false;
  };
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    listed = undefined;
  });

  const close = async (): Promise<void> => {
    isOpen = false;
    try {
      if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession();
    } catch {
      // A server that is gone needs no goodbye.
    }
    await client.close().catch(() => undefined);
  };

  const tools = (): Promise<readonly Tool[]> => {
    listed ??= listTools(client, connectTimeoutMs).catch((error: unknown) => {
      listed = undefined;
      throw error;
    });
    return listed;
  };

  try {
    // The transports declare optional members as possibly undefined, which the interface does not.
    await client.connect(transport as Transport, { timeout: connectTimeoutMs });
    await tools();
  } catch (error) {
    await close();
    throw error;
  }
  // From now on, errors of the connection are reported here.
  client.onerror = onError;
  return {
    client,
    tools,
    close,
    get isOpen() {
      return isOpen;
    },
  };
}

async function listTools(client: Client, timeout: number): Promise<readonly Tool[]> {
  const all: Tool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { tools, nextCursor } = await client.listTools(cursor === undefined ? {} : { cursor }, { timeout });
    all.push(...tools);
    if (nextCursor === undefined) break;
    cursor = nextCursor;
  }
  return all;
}

function transportTo(server: McpServerOptions): StreamableHTTPClientTransport | StdioClientTransport {
  if ('url' in server) {
    return new StreamableHTTPClientTransport(new URL(server.url), {
      ...(server.headers !== undefined && { requestInit: { headers: { ...server.headers } } }),
    });
  }
  const { command, args = [], env, cwd } = server;
  return new StdioClientTransport({
    command,
    args: [...args],
    stderr: 'ignore',
    ...(env !== undefined && { env: { ...env } }),
    ...(cwd !== undefined && { cwd }),
  });
}
