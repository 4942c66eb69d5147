import { StorageUnavailable } from '@questline/core/ports';
import { createMcpMetadata } from '@questline/mcp-server';
import { describe, expect, it } from 'vitest';
import { rpc } from '../../../test/mcp-server/support.ts';
import { createServer, withoutTasks } from './support.ts';

const LEGACY = { 'mcp-protocol-version': '2025-11-25' };
const INITIALIZE = { protocolVersion: '2025-11-25' };
const VERSION = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

/** A message of revision 2026-07-28, with its headers. */
const modern = (method: string, params: object = {}) =>
  [
    rpc(method, { ...params, _meta: { [VERSION]: '2026-07-28', [CAPABILITIES]: {} } }),
    { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method },
  ] as const;

describe('a message that calls no operation', () => {
  it('counts once against the limit, whatever its answer', async () => {
    const { send } = await createServer();
    const messages: [unknown, Record<string, string>?][] = [
      [rpc('ping')],
      [rpc('initialize', INITIALIZE)],
      [rpc('tools/list')],
      [rpc('tools/list', { cursor: 'x' })],
      [rpc('resources/templates/list')],
      [{ jsonrpc: '2.0', method: 'notifications/initialized' }],
      [{ jsonrpc: '1.0' }],
      [rpc('none')],
      [rpc('tools/call', { name: 'none' })],
      [rpc('tools/call', { name: 'list_agents', arguments: [] })],
      [rpc('tools/call', { name: 'list_agents', arguments: { none: 1 } })],
      [rpc('resources/read', { uri: 7 })],
      [rpc('ping'), { 'mcp-protocol-version': 'none' }],
      [...modern('server/discover')],
      [...modern('none')],
      [rpc('tasks/list'), LEGACY],
      [rpc('tools/call', { name: 'ask_agent', arguments: { wait_seconds: 'x' }, task: {} }), LEGACY],
    ];
    const left: unknown[] = [];
    for (const [message, headers] of messages) {
      const answer = await send(message, headers);
      expect(Object.keys(answer.headers).filter((name) => /^etag|^www/i.test(name))).toEqual([]);
      left.push(answer.headers['X-RateLimit-Remaining-Minute']);
    }
    expect(left).toEqual(messages.map((_, index) => String(49 - index)));
    for (let count = messages.length; count < 50; count += 1) await send(rpc('ping'));
    for (const [message, headers] of messages) {
      const { status, body } = await send(message, headers);
      expect([message, status, body.error.code]).toEqual([message, 429, -32600]);
    }
  });

  it('names what is unknown, up to 100 characters', async () => {
    const { send } = await createServer();
    const long = `n${'o'.repeat(200)}`;
    const errorOf = async (message: unknown) => (await send(message)).body.error.message;
    expect(await errorOf(rpc(long))).toBe(`Method not found: ${long.slice(0, 100)}`);
    expect(await errorOf(rpc('tools/call', { name: long }))).toBe(`Unknown tool: ${long.slice(0, 100)}`);
    expect(await errorOf(rpc('tools/call', { name: 7 }))).toBe('Unknown tool: expected text, got number');
    expect(await errorOf(rpc('tools/call', { name: 'list_agents', arguments: 7 }))).toBe(
      'arguments: expected an object',
    );
    for (const method of ['toString', 'tasks/list', 'tasks/get', 'server/discover', 'prompts/list'])
      expect(await errorOf(rpc(method))).toBe(`Method not found: ${method}`);
  });
});

describe('the handshake', () => {
  it('says what the server can', async () => {
    const { send } = await createServer({ version: '7' });
    const { body } = await send(rpc('initialize', INITIALIZE));
    expect(body.result).toEqual({
      protocolVersion: '2025-11-25',
      capabilities: {
        tools: {},
        resources: {},
        tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
      },
      serverInfo: { name: 'questline', title: expect.any(String), version: '7' },
      instructions: expect.stringContaining('cost credits'),
    });
    const older = await send(rpc('initialize', { protocolVersion: '2025-06-18' }));
    expect(older.body.result.capabilities).toEqual({ tools: {}, resources: {} });
    const short = await createServer({ operations: { only: ['listAgents'] } });
    const { capabilities } = (await short.send(rpc('initialize', INITIALIZE))).body.result;
    expect(capabilities).toEqual({ tools: {}, resources: {} });
    expect((await (await createServer()).send(rpc('initialize'))).body.result.serverInfo.version).toBe('1');
  });

  it('is a description for clients without one', async () => {
    const { send } = await createServer();
    const { body } = await send(...modern('server/discover'));
    expect(body.result).toEqual({
      supportedVersions: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'],
      capabilities: {
        tools: {},
        resources: {},
        extensions: { 'io.modelcontextprotocol/tasks': {} },
      },
      instructions: expect.stringContaining('cost credits'),
      _meta: {
        'io.modelcontextprotocol/serverInfo': { name: 'questline', title: expect.any(String), version: '1' },
      },
      resultType: 'complete',
      ttlMs: 0,
      cacheScope: 'private',
    });
  });
});

describe('the list of tools', () => {
  it('has what clients show, and the tasks for clients that know them', async () => {
    const { send } = await createServer();
    const listed = async (headers = {}) =>
      (await send(rpc('tools/list'), headers)).body.result.tools as Record<string, unknown>[];
    const find = (tools: Record<string, unknown>[], name: string) => tools.find((tool) => tool.name === name);
    const plain = await listed();
    expect(find(plain, 'ask_agent')).toEqual({
      name: 'ask_agent',
      title: expect.stringMatching(/./),
      description: expect.stringMatching(/./),
      inputSchema: expect.objectContaining({ type: 'object' }),
      annotations: {
        title: find(plain, 'ask_agent')?.title,
        readOnlyHint: false,
        destructiveHint: false,
        openWorldHint: true,
      },
    });
    expect(find(plain, 'list_agents')?.annotations).toMatchObject({
      readOnlyHint: true,
      openWorldHint: false,
    });
    const withTasks = await listed(LEGACY);
    expect(find(withTasks, 'ask_agent')?.execution).toEqual({ taskSupport: 'optional' });
    expect(find(withTasks, 'list_agents')).toEqual(find(plain, 'list_agents'));
  });
});

describe('a failure of the service', () => {
  it('is an error without its text, and is reported', async () => {
    const failure = new Error('secret');
    const { app, send } = await createServer({}, { change: withoutTasks(failure) });
    const { status, body } = await send(rpc('tasks/list'), LEGACY);
    expect([status, body]).toEqual([
      500,
      {
        ...{ jsonrpc: '2.0', id: 1 },
        error: {
          ...{ code: -32603, message: 'Internal server error' },
          data: { request_id: expect.stringMatching(/./) },
        },
      },
    ]);
    expect(app.incidents).toEqual([
      { operation: 'receiveMcpMessage', requestId: body.error.data.request_id, error: failure },
    ]);
  });

  it('that will pass is a refusal with the time until a retry', async () => {
    const failure = new StorageUnavailable('secret');
    const { app, send } = await createServer({}, { change: withoutTasks(failure) });
    const { status, body } = await send(rpc('tasks/list'), LEGACY);
    expect([status, body.error]).toEqual([
      200,
      {
        code: -32000,
        message: 'The service is temporarily unavailable. Try again shortly.',
        data: { status: 503, retryAfter: '5' },
      },
    ]);
    expect(app.incidents).toHaveLength(1);
  });

  it('in a tool is reported under its name, unlike a refusal', async () => {
    const error = new StorageUnavailable('secret');
    const { app, send } = await createServer(
      {},
      { change: (services) => ({ ...services, getCatalogue: () => Promise.reject(error) }) },
    );
    const call = (name: string, args: object) => send(rpc('tools/call', { name, arguments: args }));
    const refused = await call('read_session', { session_id: 'f'.repeat(24) });
    expect([refused.body.result.isError, app.incidents]).toEqual([true, []]);
    const { result } = (await call('generate_image', { prompt: 'A fjord' })).body;
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('in 5 seconds') }],
    });
    expect(app.incidents).toEqual([
      { operation: 'tool:generate_image', requestId: expect.stringMatching(/./), error },
    ]);
  });
});

describe('the answer of a tool', () => {
  it('has the type of its result for clients without a handshake', async () => {
    const { send } = await createServer();
    const call = { name: 'list_agents' };
    const legacy = await send(rpc('tools/call', call));
    expect(Object.keys(legacy.body.result)).toEqual(['content', 'structuredContent']);
    const [message, headers] = modern('tools/call', call);
    const { body } = await send(message, { ...headers, 'mcp-name': 'list_agents' });
    expect(body.result.resultType).toBe('complete');
    const ping = await send(rpc('ping'));
    expect(Object.keys(ping.headers).sort()).toEqual(Object.keys(legacy.headers).sort());
  });
});

describe('a skill', () => {
  const skill = { id: 'refund', name: 'Refund', description: 'x', instructions: 'Ask.', listed: true };

  it('is a prompt with the type of its result, and a template of resources', async () => {
    const { send } = await createServer({}, { settings: { skills: [skill] } });
    const [message, headers] = modern('prompts/get', { name: 'refund' });
    const { body } = await send(message, { ...headers, 'mcp-name': 'refund' });
    expect(Object.keys(body.result).sort()).toEqual(['description', 'messages', 'resultType']);
    expect(body.result.resultType).toBe('complete');
    const legacy = await send(rpc('prompts/get', { name: 'refund' }));
    expect(Object.keys(legacy.body.result).sort()).toEqual(['description', 'messages']);
    const countOf = async (server: Awaited<ReturnType<typeof createServer>>) =>
      (await server.send(rpc('resources/templates/list'))).body.result.resourceTemplates.length;
    expect(await countOf(await createServer({}, { settings: { skills: [skill] } }))).toBe(3);
    expect(await countOf(await createServer())).toBe(2);
  });
});

describe('the sender of a message', () => {
  const REFUSED = 'This server may not be called by this host';

  it('names a host that is allowed', async () => {
    const allowedHosts = ['ai.example.com:8443', 'localhost'];
    const { send } = await createServer({ allowedHosts });
    for (const host of ['ai.example.com:8443', 'AI.Example.com:8443', 'localhost', 'localhost:3000']) {
      expect((await send(rpc('ping'), { host })).status).toBe(200);
      expect((await send(rpc('ping'), { ':authority': host })).status).toBe(200);
    }
    for (const host of ['ai.example.com', 'ai.example.com:80', 'evil.example.com', 'localhost.evil', '']) {
      const { status, body } = await send(rpc('ping'), { host });
      expect([host, status, body.error.message]).toEqual([host, 403, REFUSED]);
    }
    expect((await send(rpc('ping'))).status).toBe(403);
  });

  it('is a page of this host or of an origin that is allowed', async () => {
    const statusOf = async (options: object, origin: string, host = 'ai.example.com') =>
      (await (await createServer(options)).send(rpc('ping'), { host, origin })).status;
    expect(await statusOf({}, 'https://ai.example.com')).toBe(200);
    expect(await statusOf({}, 'https://ai.example.com:8443')).toBe(403);
    expect(await statusOf({}, 'null')).toBe(403);
    expect(await statusOf({ allowedOrigins: '*' }, 'https://evil.example.com')).toBe(200);
    expect(await statusOf({ allowedOrigins: ['https://a.test'] }, 'https://a.test')).toBe(200);
    expect(await statusOf({ allowedOrigins: ['https://a.test'] }, 'https://b.test')).toBe(403);
  });
});

describe('the metadata of the resource', () => {
  const authorization = {
    resource: 'https://ai.example.com/mcp/',
    servers: ['https://login.example.com'],
    scopes: ['ai', 'files'],
  };
  const get = (path: string, method = 'GET') => ({ method, path });
  const PATH = '/.well-known/oauth-protected-resource';

  it('is named by refusals of a credential only', async () => {
    const { send } = await createServer({ authorization });
    const { status, headers } = await send(rpc('ping'), { authorization: '' });
    const challenge = `Bearer resource_metadata="https://ai.example.com/mcp${PATH}", scope="ai files"`;
    expect([status, headers['WWW-Authenticate']]).toEqual([401, challenge]);
    expect(Object.keys(headers).length).toBeGreaterThan(1);
    expect((await send(rpc('ping'))).headers['WWW-Authenticate']).toBeUndefined();
    const forbidden = await send(rpc('ping'), { origin: 'https://evil.example.com' });
    expect(forbidden.headers['WWW-Authenticate']).toBeUndefined();
  });

  it('says who issues tokens', async () => {
    const { app, send, toRequest } = await createServer({ authorization });
    const { body } = await send(undefined, {}, get(PATH));
    expect(body).toEqual({
      resource: authorization.resource,
      authorization_servers: authorization.servers,
      bearer_methods_supported: ['header'],
      resource_name: app.services.appName,
      scopes_supported: ['ai', 'files'],
    });
    const root = createMcpMetadata(app.services, authorization);
    const request = toRequest(undefined, {}, get(`${PATH}/mcp`));
    for (const method of ['GET', 'HEAD'])
      expect((await root.handle({ ...request, method }))?.status).toBe(200);
    for (const other of [
      { ...request, method: 'POST' },
      { ...request, method: 'GET', path: `${PATH}/mcp/` },
      { ...request, method: 'GET', path: PATH },
    ])
      expect(await root.handle(other)).toBeUndefined();
  });
});
