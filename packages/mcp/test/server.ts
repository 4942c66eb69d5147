import { createServer, type Server } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { z } from 'zod';

/** A tool server over HTTP, made with the official package. */
export interface TestServer {
  readonly url: string;
  readonly headers: readonly (string | undefined)[];
  /** Aborted calls of the tool `slow`. */
  readonly stopped: number;
  /** Calls of the tool `slow`. */
  readonly started: number;
  /** Sessions that are open. */
  readonly open: number;
  /** Sessions opened so far. */
  readonly opened: number;
  /** Requests with this `Authorization` get 401. */
  readonly revoked: Set<string>;
  /** Deletes all sessions, as a restart does. */
  forget(): void;
  addTool(name: string): void;
  close(): Promise<void>;
}

export async function startServer(port = 0): Promise<TestServer> {
  const sessions = new Map<string, { transport: StreamableHTTPServerTransport; server: McpServer }>();
  const headers: (string | undefined)[] = [];
  const revoked = new Set<string>();
  const state = { started: 0, stopped: 0, opened: 0 };

  const newServer = (authorization = ''): McpServer => {
    const server = new McpServer({ name: 'test', version: '1.0.0' });
    const [, user] = /^Bearer of-(\w+)/.exec(authorization) ?? [];
    if (user !== undefined) {
      server.registerTool(`diary_of_${user}`, { annotations: { readOnlyHint: true } }, () => ({
        content: [{ type: 'text', text: `Dear ${user}` }],
      }));
      return server;
    }
    server.registerTool(
      'add',
      {
        description: 'Adds two numbers.',
        inputSchema: { a: z.number(), b: z.number() },
        annotations: { readOnlyHint: true },
      },
      ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }] }),
    );
    server.registerTool('createTicket', { description: 'Opens a ticket.' }, () => ({
      content: [
        { type: 'text', text: 'Opened.' },
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        { type: 'resource', resource: { uri: 'ticket://1', text: 'The ticket.' } },
      ],
    }));
    server.registerTool('fail.hard', { description: 'Always fails.' }, () => {
      throw new Error('it broke');
    });
    server.registerTool('slow', { description: 'Never ends.' }, (extra) => {
      state.started += 1;
      extra.signal.addEventListener('abort', () => {
        state.stopped += 1;
      });
      return new Promise(() => undefined);
    });
    return server;
  };

  const http: Server = createServer((request, response) => {
    void (async () => {
      const { authorization } = request.headers;
      headers.push(authorization);
      if (authorization !== undefined && revoked.has(authorization)) {
        response.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' }).end();
        return;
      }
      const id = request.headers['mcp-session-id'];
      const known = typeof id === 'string' ? sessions.get(id) : undefined;
      if (known !== undefined) return known.transport.handleRequest(request, response);
      if (id !== undefined) {
        response.writeHead(404, { 'content-type': 'application/json' });
        response.end('{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}');
        return;
      }
      const server = newServer(authorization);
      const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => {
          state.opened += 1;
          return `session-${state.opened}`;
        },
        onsessioninitialized: (session) => {
          sessions.set(session, { transport, server });
        },
        onsessionclosed: (session) => {
          sessions.delete(session);
        },
      });
      await server.connect(transport as Transport);
      await transport.handleRequest(request, response);
    })();
  });
  await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve));
  const address = http.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');

  return {
    url: `http://127.0.0.1:${address.port}/mcp`,
    headers,
    revoked,
    get started() {
      return state.started;
    },
    get open() {
      return sessions.size;
    },
    get stopped() {
      return state.stopped;
    },
    get opened() {
      return state.opened;
    },
    forget: () => sessions.clear(),
    addTool(name) {
      for (const { server } of sessions.values()) {
        server.registerTool(name, { description: 'New.' }, () => ({ content: [] }));
      }
    },
    async close() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
