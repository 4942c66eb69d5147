import {
  type AuthProvider,
  Client,
  StreamableHTTPClientTransport,
  type Tool,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { McpServerOptions, UserAuthorization } from './options.ts';
import { createToolFetch, type ToolFetch } from './tool-fetch.ts';

/** The maximum of pages in a list of tools. */
const MAX_PAGES = 50;
/** Servers without sessions report no changes: their tools are listed again after this time. */
const LIST_LIFE_MS = 60_000;
/** How long the end of a session may take, in milliseconds: a server that does not answer must not delay its callers. */
const SESSION_END_MS = 1000;

export interface Times {
  /** Timeout for connecting and listing tools, in milliseconds. */
  readonly connectTimeoutMs: number;
  /** Timeout of one call, in milliseconds. */
  readonly callTimeoutMs: number;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** What a connection sends to identify its user. */
export interface Credential {
  readonly headers: Readonly<Record<string, string>>;
  readonly authorization: UserAuthorization | undefined;
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
  credential: Credential,
  { connectTimeoutMs, now }: Times,
  onError: (error: unknown) => void,
): Promise<Connection> {
  const timeout = connectTimeoutMs;
  let isOpen = true;
  let listed: { readonly at: number; readonly tools: Promise<readonly Tool[]> } | undefined;
  const client = new Client(
    { name: 'questline', version: '0.1.0' },
    {
      versionNegotiation: { mode: 'auto' },
      listMaxPages: MAX_PAGES,
      listChanged: {
        tools: {
          autoRefresh: false,
          debounceMs: 0,
          onChanged: () => {
            listed = undefined;
          },
        },
      },
    },
  );
  const transport = transportTo(server, credential);
  client.onclose = () => {
    isOpen = false;
  };

  const close = async (): Promise<void> => {
    isOpen = false;
    try {
      if (transport instanceof StreamableHTTPClientTransport) await endSession(transport);
    } catch {
      // A server that cannot be reached ends its session itself.
    }
    await client.close().catch(() => undefined);
  };

  const list = async (): Promise<readonly Tool[]> =>
    (await client.listTools(undefined, { timeout, cacheMode: 'refresh' })).tools;

  const tools = (): Promise<readonly Tool[]> => {
    const isOld = client.getProtocolEra() === 'modern' && now() - (listed?.at ?? 0) >= LIST_LIFE_MS;
    if (listed === undefined || isOld) {
      const current = { at: now(), tools: list() };
      listed = current;
      current.tools.catch(() => {
        if (listed === current) listed = undefined;
      });
    }
    return listed.tools;
  };

  try {
    await client.connect(transport, { timeout });
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

async function endSession(transport: StreamableHTTPClientTransport): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, SESSION_END_MS);
  });
  await Promise.race([transport.terminateSession(), limit]).finally(() => clearTimeout(timer));
}

function transportTo(
  server: McpServerOptions,
  { headers, authorization }: Credential,
): StreamableHTTPClientTransport | StdioClientTransport {
  if ('url' in server) {
    const { fetch, getToken } = createToolFetch(headers);
    return new StreamableHTTPClientTransport(new URL(server.url), {
      requestInit: { headers },
      fetch,
      ...(authorization !== undefined && { authProvider: toProvider(authorization, getToken) }),
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

/** Without another token, the request fails because of the refusal. */
function toProvider(authorization: UserAuthorization, getToken: ToolFetch['getToken']): AuthProvider {
  return {
    token: () => authorization.token(),
    async onUnauthorized({ response, serverUrl }) {
      try {
        if (authorization.onUnauthorized === undefined) throw new Error('the token cannot be renewed');
        await authorization.onUnauthorized({ response, serverUrl, token: getToken(response) });
      } catch (cause) {
        throw Object.assign(new UnauthorizedError('the tool server refused the token'), { cause });
      }
    },
  };
}
