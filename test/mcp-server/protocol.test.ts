import { describe, expect, it } from 'vitest';
import { createMcpApp, readJson, rpc } from './support.ts';

const VERSION = 'io.modelcontextprotocol/protocolVersion';
const META = { [VERSION]: '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };

/** A request of the revision without a handshake. */
const modern = (method: string, params: object = {}) => rpc(method, { ...params, _meta: META });
const headersOf = (method: string, name?: string) => ({
  'MCP-Protocol-Version': '2026-07-28',
  'Mcp-Method': method,
  ...(name !== undefined && { 'Mcp-Name': name }),
});

describe('messages', () => {
  it('negotiate the version', async () => {
    const app = await createMcpApp();
    for (const [asked, got] of [
      ['2025-11-25', '2025-11-25'],
      ['2025-06-18', '2025-06-18'],
      ['2099-01-01', '2025-11-25'],
    ]) {
      const answer = await app.send(rpc('initialize', { protocolVersion: asked, capabilities: {} }));
      expect(await readJson(answer)).toMatchObject({ id: 1, result: { protocolVersion: got } });
    }
    const unknown = await app.send(rpc('tools/list'), { 'MCP-Protocol-Version': '1999-01-01' });
    expect(unknown.status).toBe(400);
    expect(await readJson(unknown)).toMatchObject({
      id: 1,
      error: { code: -32022, data: { requested: '1999-01-01' } },
    });
  });

  it('of a wrong form are refused with the error of the protocol', async () => {
    const app = await createMcpApp();
    for (const [body, status, code] of [
      ['{', 400, -32700],
      ['[]', 400, -32600],
      [[rpc('ping')], 400, -32600],
      [{}, 400, -32600],
      [{ jsonrpc: '2.0', id: 1 }, 400, -32600],
      [{ jsonrpc: '2.0', id: null, method: 'ping' }, 400, -32600],
      [{ jsonrpc: '2.0', id: 1, method: 'ping', params: [] }, 400, -32600],
      [rpc('ping', { filler: 'x'.repeat(2 ** 20) }), 413, -32600],
      [rpc('none'), 200, -32601],
      [rpc('constructor'), 200, -32601],
      [rpc('prompts/list'), 200, -32601],
      [rpc('tools/list', { cursor: 'x' }), 200, -32602],
      [rpc('tools/call', { name: 'none' }), 200, -32602],
      [rpc('tools/call', { name: { toString: '' } }), 200, -32602],
      [rpc('tools/call', { name: 'list_agents', arguments: [] }), 200, -32602],
      [rpc('resources/read', {}), 200, -32602],
      [rpc('resources/read', { uri: 'file:///etc/passwd' }), 200, -32002],
    ] as const) {
      const answer = await app.send(body);
      const { error } = await readJson(answer);
      expect([body, answer.status, error.code]).toEqual([body, status, code]);
      expect(error.message).not.toBe('');
    }
    expect(app.incidents).toEqual([]);
  });

  it('without an answer are accepted', async () => {
    const app = await createMcpApp();
    for (const message of [
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
      { jsonrpc: '2.0', id: 7, result: {} },
    ]) {
      const answer = await app.send(message);
      expect([answer.status, await answer.text()]).toEqual([202, '']);
    }
  });

  it('explain wrong arguments to the model', async () => {
    const app = await createMcpApp();
    for (const [name, args, text] of [
      ['ask_agent', {}, /^message/],
      ['ask_agent', { message: 'x', wait_seconds: 'long' }, /^wait_seconds/],
      ['ask_agent', { message: 'x', max_iterations: 0 }, /max_iterations/],
      ['list_models', { limit: 1000 }, /limit/],
      ['list_models', { limit: {} }, /^limit/],
      ['list_models', { size: 1 }, /^size: unknown/],
      ['read_session', {}, /^session_id/],
      ['read_session', { session_id: '../x' }, /not found/],
      ['search_data_lake', { lake_id: 'papers' }, /query/],
    ] as const) {
      const { result } = await readJson(await app.send(rpc('tools/call', { name, arguments: args })));
      expect([name, result.isError]).toEqual([name, true]);
      expect(result.content[0]?.text).toMatch(text);
    }
  });

  it('arrive only by POST, at one path, and not from pages of other sites', async () => {
    const app = await createMcpApp({ mcp: { allowedOrigins: ['https://app.example.com'] } });
    const headers = { Authorization: `Bearer ${app.key}`, Accept: 'text/event-stream' };
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const answer = await fetch(app.url, { method, headers });
      expect([method, answer.status, answer.headers.get('Allow')]).toEqual([method, 405, 'POST']);
    }
    expect((await fetch(`${app.url}/other`, { method: 'POST', headers })).status).toBe(404);
    const from = async (Origin: string) => (await app.send(rpc('ping'), { Origin })).status;
    expect(await from('https://evil.example.com')).toBe(403);
    expect(await from('null')).toBe(403);
    expect(await from('https://app.example.com')).toBe(200);
    expect(await from(new URL(app.url).origin)).toBe(200);
    const strict = await createMcpApp({ mcp: { allowedHosts: ['ai.example.com'] } });
    expect((await strict.send(rpc('ping'))).status).toBe(403);
    const open = await createMcpApp({ mcp: { allowedHosts: ['127.0.0.1'] } });
    expect((await open.send(rpc('ping'))).status).toBe(200);
  });
});

describe('messages without a handshake', () => {
  it('are answered with the fields of the revision', async () => {
    const app = await createMcpApp();
    const discovered = await app.send(modern('server/discover'), headersOf('server/discover'));
    expect((await readJson(discovered)).result).toMatchObject({
      resultType: 'complete',
      supportedVersions: expect.arrayContaining(['2026-07-28', '2025-11-25']),
      capabilities: { tools: {}, resources: {} },
      cacheScope: 'private',
      ttlMs: 0,
    });
    const listed = await app.send(modern('tools/list'), headersOf('tools/list'));
    expect((await readJson(listed)).result).toMatchObject({ resultType: 'complete', cacheScope: 'private' });
    const name = 'list_agents';
    const called = await app.send(
      modern('tools/call', { name }),
      headersOf('tools/call', `=?base64?${Buffer.from(name).toString('base64')}?=`),
    );
    expect((await readJson(called)).result).toMatchObject({
      resultType: 'complete',
      structuredContent: { data: [] },
    });
  });

  it('must have headers that repeat the body', async () => {
    const app = await createMcpApp();
    const list = modern('tools/list');
    const unknown = { ...META, [VERSION]: '2030-01-01' };
    for (const [body, headers, status, code] of [
      [list, {}, 400, -32020],
      [list, { ...headersOf('tools/list'), 'MCP-Protocol-Version': '2025-11-25' }, 400, -32020],
      [list, headersOf('tools/call'), 400, -32020],
      [rpc('tools/list'), headersOf('tools/list'), 400, -32602],
      [modern('tools/call', { name: 'list_agents' }), headersOf('tools/call'), 400, -32020],
      [modern('tools/call', { name: 'list_agents' }), headersOf('tools/call', 'list_files'), 400, -32020],
      [rpc('tools/list', { _meta: unknown }), headersOf('tools/list'), 400, -32020],
      [rpc('tools/list', { _meta: unknown }), { 'MCP-Protocol-Version': unknown[VERSION] }, 400, -32022],
      [rpc('tools/list', { _meta: { [VERSION]: '2026-07-28' } }), headersOf('tools/list'), 400, -32602],
      [modern('initialize'), headersOf('initialize'), 404, -32601],
      [modern('ping'), headersOf('ping'), 404, -32601],
    ] as const) {
      const answer = await app.send(body, headers);
      const { error, id } = await readJson(answer);
      expect([body, answer.status, error.code, id]).toEqual([body, status, code, 1]);
    }
  });
});
