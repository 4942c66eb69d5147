import { vi } from 'vitest';

type Json = Readonly<Record<string, unknown>>;

/** A request to the tool server. */
export interface Asked {
  /** The method of the protocol; that of HTTP for requests without a message. */
  readonly method: string;
  readonly params: Json;
  readonly headers: Headers;
  readonly url: string;
}

/** The result of a message, or the whole answer. */
export type Answer = Json | Response | Promise<Json | Response>;

export interface ScriptedServer {
  readonly asked: Asked[];
  /** Answers by method; the usual ones can be replaced. */
  readonly answers: Map<string, (asked: Asked) => Answer>;
  /** The requests with a method. */
  of(method: string): readonly Asked[];
}

export const URL_OF_SERVER = 'https://tools.test/mcp';

/** An error of the protocol. */
export function rpcError(code: number, message = 'secret', status = 200): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status });
}

/** The tools of the server. Servers without sessions say how long the list may be kept. */
export function listed(...names: readonly string[]): Json {
  const tools = names.map((name) => ({ name, inputSchema: { type: 'object' } }));
  return { tools, ttlMs: 3_600_000, cacheScope: 'private' };
}

/**
 * Replaces the global `fetch` with a tool server in this process; the test has to restore it.
 * @param isModern whether the server works without sessions.
 */
export function stubServer({ isModern = false }: { readonly isModern?: boolean } = {}): ScriptedServer {
  const asked: Asked[] = [];
  const answers: ScriptedServer['answers'] = new Map<string, (one: Asked) => Answer>([
    [
      'initialize',
      () => ({
        protocolVersion: '2025-11-25',
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: 'test', version: '1' },
      }),
    ],
    ['tools/list', () => listed('one', 'two')],
    ['tools/call', ({ params }) => ({ content: [{ type: 'text', text: `called ${String(params.name)}` }] })],
    ['GET', () => new Response(null, { status: 405 })],
    ['DELETE', () => new Response(null, { status: 200 })],
  ]);
  if (isModern) {
    answers.set('server/discover', () => ({
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {} },
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'test', version: '1' } },
    }));
  }
  vi.stubGlobal('fetch', async (url: string | URL, init: RequestInit = {}) => {
    init.signal?.throwIfAborted();
    const message = init.body === undefined ? {} : (JSON.parse(String(init.body)) as Json);
    const method = String(message.method ?? init.method ?? 'GET');
    const one = {
      method,
      params: (message.params ?? {}) as Json,
      headers: new Headers(init.headers),
      url: String(url),
    };
    asked.push(one);
    const answer = answers.get(method);
    if (answer === undefined && message.id === undefined) return new Response(null, { status: 202 });
    const said = (await answer?.(one)) ?? rpcError(-32601);
    if (!(said instanceof Response)) {
      const headers = method === 'initialize' ? { 'mcp-session-id': 's-1' } : {};
      const result = { ...(isModern && { resultType: 'complete' }), ...said };
      return Response.json({ jsonrpc: '2.0', id: message.id, result }, { headers });
    }
    if (message.id === undefined || said.headers.get('content-type') !== 'application/json') return said;
    const { status, headers } = said;
    return Response.json({ ...((await said.json()) as Json), id: message.id }, { status, headers });
  });
  return { asked, answers, of: (method) => asked.filter((one) => one.method === method) };
}
