import type { ToolContext } from '@questline/core';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createMcpTools, type McpTools, type McpToolsOptions } from '../src/index.ts';
import { listed, rpcError, stubServer, URL_OF_SERVER } from './scripted-server.ts';

const SCOPE = { userId: 'u', sessionId: 's', payer: { account: 'user:u', userId: 'u' } };
const made: McpTools[] = [];

afterEach(async () => {
  vi.useRealTimers();
  for (const tools of made.splice(0)) await tools.close();
  vi.unstubAllGlobals();
});

type Server = Extract<McpToolsOptions['servers'][number], { url: string }>;

function create(server: Partial<Server> = {}, options: Partial<McpToolsOptions> = {}) {
  const errors: unknown[] = [];
  const tools = createMcpTools({
    servers: [{ id: 'one', url: URL_OF_SERVER, ...server }],
    onError: (error, id) => void errors.push([id, error]),
    ...options,
  });
  made.push(tools);
  const context = (signal: AbortSignal): ToolContext => ({ ...SCOPE, callKey: 'k', requestId: 'r', signal });
  return {
    tools,
    errors,
    idsOf: async () => (await tools.list(SCOPE)).map(({ id }) => id),
    list: () => tools.listServer?.('one', SCOPE),
    run: (name = 'one', signal = new AbortController().signal) =>
      tools.run({ tool: `one__${name}`, input: { a: 1 } }, context(signal)),
  };
}

const never = () => new Promise<never>(() => undefined);
const CANNOT = 'The tool server could not do this.';
const AWAY = { url: URL_OF_SERVER, tools: [], error: 'The tool server could not be reached.' };

describe('a call of a tool', () => {
  it('has the input, the name that the server has, and one connection', async () => {
    const { asked, answers, of } = stubServer();
    answers.set('tools/list', () => listed('fail.hard'));
    const { run } = create();
    for (let count = 0; count < 2; count += 1) {
      expect(await run('fail_hard')).toEqual({ content: 'called fail.hard', isError: false });
    }
    expect(of('tools/call')[0]?.params).toMatchObject({ name: 'fail.hard', arguments: { a: 1 } });
    expect(of('initialize')[0]?.params.clientInfo).toEqual({ name: 'questline', version: '0.1.0' });
    expect(asked.filter(({ method }) => method === 'initialize')).toHaveLength(1);
  });

  it.each([
    [-32602, 'The tool server refused the arguments.'],
    [-32603, CANNOT],
    [-32601, CANNOT],
  ])('that the server answers with the error %i says so, over the same connection', async (code, content) => {
    const { answers, of } = stubServer();
    answers.set('tools/call', () => rpcError(code));
    const { run, errors } = create();
    const failure = { type: 'protocol', code };
    expect(await run()).toEqual({ content, isError: true, failure });
    expect(await run()).toEqual({ content, isError: true, failure });
    expect([of('initialize').length, of('DELETE').length, errors.length]).toEqual([1, 0, 2]);
  });

  it('that fails has the status of the server, and ends the connection', async () => {
    const { answers, of } = stubServer();
    answers.set('tools/call', () => new Response('secret', { status: 500 }));
    const { run, errors } = create();
    expect(await run()).toEqual({ content: CANNOT, isError: true, failure: { type: 'http', code: 500 } });
    expect(errors.length).toBeGreaterThan(0);
    expect([of('tools/call').length, of('DELETE').length]).toEqual([1, 1]);
    answers.set('tools/call', () => ({ content: [{ type: 'text', text: 'again' }] }));
    expect((await run()).content).toBe('again');
    expect(of('initialize')).toHaveLength(2);
  });

  it('that gets no answer fails with 502', async () => {
    const { answers } = stubServer();
    answers.set('tools/call', () => Promise.reject(new TypeError('offline')));
    expect(await create().run()).toEqual({
      content: CANNOT,
      isError: true,
      failure: { type: 'http', code: 502 },
    });
  });

  it('is repeated once in a new session if the server has lost the session', async () => {
    const { answers, of } = stubServer();
    answers.set('tools/call', () => new Response(null, { status: 404 }));
    const { run } = create();
    expect((await run()).failure).toEqual({ type: 'http', code: 404 });
    expect([of('tools/call').length, of('initialize').length]).toEqual([2, 2]);
  });

  it('is not repeated after another failure', async () => {
    const { answers, of } = stubServer();
    answers.set('tools/call', () => rpcError(404));
    await create().run();
    answers.set('tools/call', () => new Response(null, { status: 403 }));
    await create().run();
    expect(of('tools/call')).toHaveLength(2);
  });

  it('that is aborted is no failure of the server, and keeps the connection', async () => {
    const { answers, of } = stubServer();
    const leaving = new AbortController();
    answers.set('tools/call', () => {
      leaving.abort();
      return never();
    });
    const { run, errors } = create();
    expect((await run('one', leaving.signal)).isError).toBe(true);
    expect(errors).toEqual([]);
    answers.set('tools/call', () => ({ content: [] }));
    expect((await run()).isError).toBe(false);
    expect([of('initialize').length, of('DELETE').length]).toEqual([1, 0]);
  });

  it('ends in time, also if the server does not end its session', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { answers, of } = stubServer();
    answers.set('tools/call', never);
    answers.set('DELETE', never);
    const { run } = create({}, { callTimeoutMs: 3000 });
    const result = run();
    await vi.advanceTimersByTimeAsync(3000);
    await vi.advanceTimersByTimeAsync(1000);
    expect(await result).toEqual({
      content: 'The tool did not answer in time.',
      isError: true,
      failure: { type: 'http', code: 504 },
    });
    expect(of('DELETE')).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('the connection to a tool server', () => {
  it('offers no tools until it is made again after the delay', async () => {
    const { answers, of } = stubServer();
    answers.set('initialize', () => new Response(null, { status: 503 }));
    let now = 5000;
    const { list, idsOf, errors } = create({}, { retryAfterMs: 100, now: () => now });
    expect(await list()).toEqual(AWAY);
    expect(errors).toHaveLength(1);
    now += 99;
    expect(await list()).toEqual(AWAY);
    expect([errors.length, of('initialize').length]).toEqual([1, 1]);
    answers.set('initialize', () => ({
      ...{ protocolVersion: '2025-11-25', capabilities: { tools: {} } },
      serverInfo: { name: 'test', version: '1' },
    }));
    now += 1;
    expect(await idsOf()).toEqual(['one__one', 'one__two']);
  });

  it('is given up if the server does not answer in time', async () => {
    for (const method of ['initialize', 'tools/list']) {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const { answers } = stubServer();
      answers.set(method, never);
      answers.set('DELETE', never);
      const { list } = create({}, { connectTimeoutMs: 2000 });
      const listing = list();
      await vi.advanceTimersByTimeAsync(2000);
      await vi.advanceTimersByTimeAsync(1000);
      expect(await listing).toEqual(AWAY);
      vi.useRealTimers();
    }
  });

  it('ends its session, also if its tools cannot be listed', async () => {
    const { answers, of } = stubServer();
    answers.set('tools/list', () => rpcError(-32603));
    const { list, tools } = create();
    expect(await list()).toEqual(AWAY);
    expect(of('DELETE')[0]?.headers.get('mcp-session-id')).toBe('s-1');
    const other = create();
    answers.set('tools/list', () => listed('one'));
    await other.list();
    await Promise.all([tools.close(), other.tools.close()]);
    expect(of('DELETE')).toHaveLength(2);
  });

  it('ends without an answer to the end of the session', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { answers } = stubServer();
    answers.set('DELETE', never);
    const { list, tools } = create();
    await list();
    const closing = tools.close();
    await vi.advanceTimersByTimeAsync(1000);
    await closing;
    answers.set('DELETE', () => Promise.reject(new TypeError('offline')));
    const other = create();
    await other.list();
    await other.tools.close();
  });

  it('is not opened after the end of the tools', async () => {
    const { asked } = stubServer();
    let goOn: (() => void) | undefined;
    const authorize = async () => {
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
      return { token: async () => undefined };
    };
    const { list, tools } = create({ authorize });
    const listing = list();
    await vi.waitFor(() => expect(goOn).not.toBeUndefined());
    await tools.close();
    goOn?.();
    expect(await listing).toEqual(AWAY);
    expect(asked).toEqual([]);
  });

  it('is shared by calls that come while it is opened', async () => {
    const { of } = stubServer();
    const { run, list } = create();
    await Promise.all([run('one'), run('two'), list()]);
    expect(of('initialize')).toHaveLength(1);
  });
});

describe('the list of tools', () => {
  it('is read once while the connection lasts', async () => {
    const { of } = stubServer();
    const { idsOf } = create({}, { now: () => of('tools/list').length * 3_600_000 });
    for (let count = 0; count < 3; count += 1) expect(await idsOf()).toEqual(['one__one', 'one__two']);
    expect(of('tools/list')).toHaveLength(1);
  });

  it('is read again each minute from a server without sessions', async () => {
    const { answers, of } = stubServer({ isModern: true });
    let now = 5_000_000;
    const { idsOf } = create({}, { now: () => now });
    expect(await idsOf()).toEqual(['one__one', 'one__two']);
    answers.set('tools/list', () => listed('three'));
    now += 59_999;
    expect(await idsOf()).toEqual(['one__one', 'one__two']);
    now += 1;
    expect(await idsOf()).toEqual(['one__three']);
    now += 59_999;
    await idsOf();
    expect(of('tools/list')).toHaveLength(2);
  });

  it('is read again after a failure, which is reported', async () => {
    const { answers } = stubServer({ isModern: true });
    let now = 5_000_000;
    const { idsOf, list, errors } = create({}, { now: () => now });
    await idsOf();
    answers.set('tools/list', () => rpcError(-32603));
    now += 60_000;
    expect(await list()).toEqual(AWAY);
    expect(errors).toEqual([['one', expect.any(Error)]]);
    answers.set('tools/list', () => listed('three'));
    expect(await idsOf()).toEqual(['one__three']);
  });

  it('has up to 50 pages', async () => {
    const { answers, of } = stubServer();
    let page = 0;
    answers.set('tools/list', () => {
      page += 1;
      return { ...listed(`t${page}`), nextCursor: `c${page}` };
    });
    expect((await create().idsOf()).length).toBeLessThanOrEqual(50);
    expect(of('tools/list')).toHaveLength(50);
  });
});
