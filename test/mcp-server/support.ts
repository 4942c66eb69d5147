import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createDemoProvider, type Scope } from '@questline/core';
import { createMcpApi, type McpApiOptions } from '@questline/mcp-server';
import { afterEach } from 'vitest';
import { type ChatApp, type ChatAppOptions, createChatApp, sayAtOnce } from '../support/chat.ts';
import { createStudio } from '../support/media.ts';
import { createScriptedProvider } from '../support/model.ts';
import { serveWire } from '../support/vendor-wire.ts';

export const SCOPES: readonly Scope[] = [
  'ai:chat',
  'ai:generate',
  'agents:read',
  'notebooks:read',
  'notebooks:write',
  'datalake:read',
  'datalake:write',
  'datalake:query',
  'files:read',
];

export interface McpApp extends ChatApp {
  readonly url: string;
  /** The official client, connected with a credential. Default: the app's key. */
  connect(credential?: string): Promise<Client>;
  /** A plain request. */
  send(body: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>;
  /** A key of a user. Default: the app's user, with all scopes of the tools. */
  keyOf(userId?: string, scopes?: readonly Scope[]): Promise<string>;
}

const clients: Client[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

/** An app on a local port, with the tools at `/mcp`. */
export async function createMcpApp(
  options: ChatAppOptions & { readonly mcp?: McpApiOptions } = {},
): Promise<McpApp> {
  const { mcp, ...rest } = options;
  const app = await createChatApp({
    models: [
      createScriptedProvider(rest.onCall ?? sayAtOnce('Rain, at noon.')),
      createStudio(),
      createDemoProvider(),
    ],
    ...rest,
    key: { scopes: SCOPES, ...rest.key },
    settings: {
      ...rest.settings,
      admin: {
        DefaultAPIModel: 'scripted',
        EnableDataLakes: true,
        EnableAgents: true,
        ...rest.settings?.admin,
      },
    },
  });
  const url = await serveWire(createMcpApi(app.services, mcp), '/mcp');
  return {
    ...app,
    url,
    async connect(credential = app.key) {
      const client = new Client({ name: 'test', version: '1' });
      clients.push(client);
      const headers = { Authorization: `Bearer ${credential}` };
      // The SDK's own types contradict exactOptionalPropertyTypes.
      const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
      await client.connect(transport as Parameters<Client['connect']>[0]);
      return client;
    },
    send: (body, headers = {}) =>
      fetch(url, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${app.key}`,
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
          ...headers,
        },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    async keyOf(userId = app.user.id, scopes = SCOPES) {
      return (await app.issue({ userId, scopes, requestsPerMinute: 10_000 })).key;
    },
  };
}

/** The fields of the results of all tools. */
export interface ToolValue {
  readonly session_id: string;
  readonly quest_id: string;
  readonly execution_id: string;
  readonly generation_id: string;
  readonly status: string;
  readonly answer: string;
  readonly data: readonly { readonly id: string }[];
  readonly results: readonly unknown[];
  readonly skills: readonly unknown[];
  readonly models: readonly unknown[];
}

/** The fields of the answers to all messages. */
export interface RpcAnswer {
  readonly id: unknown;
  readonly result: {
    readonly structuredContent: ToolValue;
    readonly resultType: string;
    readonly capabilities: Readonly<Record<string, unknown>>;
    readonly serverInfo: { readonly version: string };
    readonly tools: readonly Readonly<Record<string, unknown>>[];
    readonly resourceTemplates: readonly unknown[];
    readonly content: readonly { readonly type: string; readonly text: string }[];
    readonly contents: readonly {
      readonly uri?: string;
      readonly mimeType?: string;
      readonly text?: string;
    }[];
    readonly isError: boolean;
    readonly skills: readonly {
      readonly uri: string;
      readonly resources: unknown;
      readonly frontmatter: unknown;
    }[];
    readonly skill: unknown;
    readonly nextCursor: string;
    /** Of tasks. */
    readonly task: { readonly taskId: string };
    readonly tasks: readonly { readonly taskId: string }[];
    readonly taskId: string;
    readonly status: string;
    readonly result: RpcAnswer['result'];
  };
  readonly error: {
    readonly code: number;
    readonly message: string;
    readonly data: Readonly<Record<string, unknown>>;
  };
}

export interface Called {
  readonly isError: boolean;
  readonly text: string;
  readonly value: ToolValue;
  readonly content: readonly { readonly type: string; readonly [field: string]: unknown }[];
}

export async function callTool(client: Client, name: string, args: object = {}): Promise<Called> {
  const result = await client.callTool({ name, arguments: { ...args } });
  const content = result.content as Called['content'];
  return {
    isError: result.isError === true,
    text: String(content[0]?.text),
    value: result.structuredContent as ToolValue,
    content,
  };
}

/** A request of the protocol. */
export const rpc = (method: string, params: object = {}, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});

export async function readJson(response: Response): Promise<RpcAnswer> {
  return (await response.json()) as RpcAnswer;
}

/** Sends a message as a client of revision 2026-07-28. */
export async function askModern(
  app: McpApp,
  method: string,
  params: Readonly<Record<string, unknown>> = {},
  { extensions = {}, key = app.key }: { readonly extensions?: object; readonly key?: string } = {},
) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { extensions },
  };
  const answer = await app.send(rpc(method, { ...params, _meta }), {
    Authorization: `Bearer ${key}`,
    'MCP-Protocol-Version': '2026-07-28',
    'Mcp-Method': method,
    'Mcp-Name': String(params.name ?? params.uri ?? params.taskId),
  });
  return { status: answer.status, ...(await readJson(answer)) };
}
