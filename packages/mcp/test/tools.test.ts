import { fileURLToPath } from 'node:url';
import type { ToolContext } from '@questline/core';
import { createMemoryStore } from '@questline/core/memory';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createMcpTools, type McpTools, type McpToolsOptions } from '../src/index.ts';
import { startServer, type TestServer } from './server.ts';

const SCOPE = { userId: 'u', sessionId: 's', payer: { account: 'user:u', userId: 'u' } };
const context = (signal: AbortSignal = new AbortController().signal): ToolContext => ({
  ...SCOPE,
  callKey: 'k',
  requestId: 'r',
  signal,
});

const ending: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end();
});

async function server(port?: number): Promise<TestServer> {
  const started = await startServer(port);
  ending.push(() => started.close());
  return started;
}

function tools(options: McpToolsOptions): McpTools {
  const made = createMcpTools(options);
  ending.push(() => made.close());
  return made;
}

const run = (made: McpTools, tool: string, input: unknown = {}, signal?: AbortSignal) =>
  made.run({ tool, input }, context(signal));

describe('tools of an MCP server', () => {
  it('are offered by default under their own names and gated unless read-only', async () => {
    const { url } = await server();
    const made = tools({ servers: [{ id: 'one', url }] });
    const offers = await made.list(SCOPE);
    expect(offers.map(({ id, offered, gated = false }) => [id, offered, gated])).toEqual([
      ['one__add', 'automatic', false],
      ['one__createTicket', 'automatic', true],
      ['one__fail_hard', 'automatic', true],
      ['one__slow', 'automatic', true],
    ]);
    expect(offers[0]?.schema).toMatchObject({
      name: 'one__add',
      description: 'Adds two numbers.',
      parameters: { type: 'object', properties: { a: { type: 'number' } }, required: ['a', 'b'] },
    });
    expect(await made.find('one__add', SCOPE)).toEqual(offers[0]);
    for (const id of ['add', 'one__other', 'two__add', ''])
      expect(await made.find(id, SCOPE)).toBeUndefined();
    const smart = await made.select('Please open a ticket for this', SCOPE);
    expect(smart.map(({ id }) => id)).toEqual(['one__createTicket']);
  });

  it('are listed by server, with the names that the server has', async () => {
    const { url } = await server();
    const made = tools({ servers: [{ id: 'one', url }] });
    const listed = await made.listServer?.('one', SCOPE);
    expect(listed).toMatchObject({ url });
    expect(listed?.tools.map(({ name, isReadOnly, offer: { id } }) => [name, isReadOnly, id])).toEqual([
      ['add', true, 'one__add'],
      ['createTicket', false, 'one__createTicket'],
      ['fail.hard', false, 'one__fail_hard'],
      ['slow', false, 'one__slow'],
    ]);
    for (const id of ['on', 'one_', 'two', '']) expect(await made.listServer?.(id, SCOPE)).toBeUndefined();
    const broken = tools({
      servers: [{ id: 'one', url, headers: () => Promise.reject(new Error('secret')) }],
    });
    const error = 'The tool server has no credential for the user.';
    expect(await broken.listServer?.('one', SCOPE)).toEqual({ url, tools: [], error });
  });

  it('are gated as configured', async () => {
    const { url } = await server();
    const gatedBy = async (gated: 'all' | 'none') =>
      (await tools({ servers: [{ id: 'one', url, gated }] }).list(SCOPE)).filter(
        (offer) => offer.gated === true,
      );
    expect(await gatedBy('all')).toHaveLength(4);
    expect(await gatedBy('none')).toHaveLength(0);
  });

  it('run over one connection with the configured headers', async () => {
    const test = await server();
    const made = tools({ servers: [{ id: 'one', url: test.url, headers: { Authorization: 'Bearer x' } }] });
    const sums = await Promise.all([1, 2, 3].map((a) => run(made, 'one__add', { a, b: 1 })));
    expect(sums).toEqual([2, 3, 4].map((sum) => ({ content: String(sum), isError: false })));
    expect(test.opened).toBe(1);
    expect(new Set(test.headers)).toEqual(new Set(['Bearer x']));
    expect(await run(made, 'one__createTicket')).toEqual({
      content: 'Opened.\n[image image/png]\nThe ticket.',
      isError: false,
    });
  });

  it('return useful errors when they fail or reject their arguments', async () => {
    const made = tools({ servers: [{ id: 'one', url: (await server()).url }] });
    expect(await run(made, 'one__fail_hard')).toEqual({ content: 'it broke', isError: true });
    expect(await run(made, 'one__add', { a: 'x' })).toMatchObject({ isError: true });
    for (const input of [null, 'x', [1], 7]) {
      expect(await run(made, 'one__add', input)).toEqual({
        content: 'The arguments have to be an object.',
        isError: true,
      });
    }
    expect(await run(made, 'one__add', { a: 1, b: 1 })).toEqual({ content: '2', isError: false });
  });

  it('time out, and stop when the client disconnects', async () => {
    const test = await server();
    const made = tools({ servers: [{ id: 'one', url: test.url }], callTimeoutMs: 50 });
    expect(await run(made, 'one__slow')).toEqual({
      content: 'The tool did not answer in time.',
      isError: true,
      failure: { type: 'http', code: 504 },
    });
    const leaving = new AbortController();
    const calling = run(tools({ servers: [{ id: 'two', url: test.url }] }), 'two__slow', {}, leaving.signal);
    await vi.waitFor(() => expect(test.opened).toBe(2));
    leaving.abort();
    expect((await calling).isError).toBe(true);
    await vi.waitFor(() => expect(test.stopped).toBeGreaterThanOrEqual(1));
    // The server itself continues; with the timeout of `made` a busy machine might be late here too.
    const patient = tools({ servers: [{ id: 'three', url: test.url }] });
    expect(await run(patient, 'three__add', { a: 1, b: 2 })).toEqual({ content: '3', isError: false });
  });

  it('are listed again when the server reports a change', async () => {
    const test = await server();
    const made = tools({ servers: [{ id: 'one', url: test.url }] });
    expect(await made.list(SCOPE)).toHaveLength(4);
    test.addTool('later');
    await vi.waitFor(async () => expect(await made.find('one__later', SCOPE)).toBeDefined());
  });
});

describe('MCP server connection', () => {
  it('opens when its tools are first needed', async () => {
    const test = await server();
    tools({ servers: [{ id: 'one', url: test.url }] });
    expect(test.opened).toBe(0);
  });

  it('reconnects once after a loss, however many callers wait', async () => {
    const test = await startServer();
    const made = tools({ servers: [{ id: 'one', url: test.url }], retryAfterMs: 0 });
    await made.list(SCOPE);
    await test.close();
    expect((await run(made, 'one__add', { a: 1, b: 1 })).isError).toBe(true);
    const again = await server(Number(new URL(test.url).port));
    const sums = await Promise.all([1, 2, 3, 4].map((a) => run(made, 'one__add', { a, b: 0 })));
    expect(sums.map(({ content }) => content)).toEqual(['1', '2', '3', '4']);
    expect(again.opened).toBe(1);
  });

  it('starts a new session when the server lost the old one, and calls once', async () => {
    const test = await server();
    const made = tools({ servers: [{ id: 'one', url: test.url }] });
    await made.list(SCOPE);
    test.forget();
    expect(await run(made, 'one__add', { a: 20, b: 22 })).toEqual({ content: '42', isError: false });
    expect(test.opened).toBe(2);
  });

  it('offers no tools while the server is unreachable, backs off and does not affect others', async () => {
    const good = await server();
    const gone = await startServer();
    await gone.close();
    let now = 0;
    const errors: string[] = [];
    const made = tools({
      servers: [
        { id: 'gone', url: gone.url },
        { id: 'good', url: good.url },
      ],
      now: () => now,
      onError: (_error, id) => {
        errors.push(id);
        throw new Error('a broken reporter');
      },
    });
    expect(await made.list(SCOPE)).toHaveLength(4);
    expect(await run(made, 'gone__add', { a: 1, b: 1 })).toEqual({
      content: 'The tool gone__add cannot be reached now.',
      isError: true,
      failure: { type: 'http', code: 502 },
    });
    const { url } = gone;
    const error = 'The tool server could not be reached.';
    expect(await made.listServer?.('gone', SCOPE)).toEqual({ url, tools: [], error });
    expect(errors).toEqual(['gone']);
    const port = Number(new URL(gone.url).port);
    await server(port);
    now = 29_999;
    expect(await made.list(SCOPE)).toHaveLength(4);
    now = 30_000;
    expect(await made.list(SCOPE)).toHaveLength(8);
  });

  it('fails the call when the server disappears during it, and reconnects', async () => {
    const test = await startServer();
    const made = tools({ servers: [{ id: 'one', url: test.url }], retryAfterMs: 0 });
    const calling = run(made, 'one__slow');
    await vi.waitFor(() => expect(test.headers.length).toBeGreaterThanOrEqual(4));
    await test.close();
    expect(await run(made, 'one__add', { a: 1, b: 1 })).toMatchObject({ isError: true });
    expect((await calling).isError).toBe(true);
    await server(Number(new URL(test.url).port));
    expect(await run(made, 'one__add', { a: 1, b: 1 })).toEqual({ content: '2', isError: false });
  });

  it('can be a child process, which ends with the tools', async () => {
    const args = [fileURLToPath(new URL('./child.mjs', import.meta.url))];
    const made = tools({ servers: [{ id: 'child', command: process.execPath, args }] });
    const first = await run(made, 'child__pid');
    expect(first.isError).toBe(false);
    expect((await run(made, 'child__die')).isError).toBe(true);
    const second = await run(made, 'child__pid');
    expect(second.isError).toBe(false);
    expect(second.content).not.toBe(first.content);
    await made.close();
    await vi.waitFor(() => expect(() => process.kill(Number(second.content), 0)).toThrow('ESRCH'));
  });

  it('stays closed after close', async () => {
    const test = await server();
    const made = tools({ servers: [{ id: 'one', url: test.url }] });
    await made.list(SCOPE);
    await made.close();
    expect(await made.list(SCOPE)).toEqual([]);
    expect((await run(made, 'one__add', { a: 1, b: 1 })).isError).toBe(true);
    expect(test.opened).toBe(1);
  });
});

describe('invalid MCP options', () => {
  it.each([
    [[{ id: 'Bad', url: 'http://x' }], "got 'Bad'"],
    [[{ id: '', url: 'http://x' }], "got ''"],
    [[{ id: 'x'.repeat(21), url: 'http://x' }], 'got'],
    [[{ id: 'a', url: 'ftp://x' }], 'http or https'],
    [[{ id: 'a', url: 'nonsense' }], 'Invalid URL'],
    [
      [
        { id: 'a', url: 'http://x' },
        { id: 'a', url: 'http://y' },
      ],
      "two tool servers have the id 'a'",
    ],
    [[{ id: 'a', url: 'http://x', authorize: 'oauth' as const }], "'a' needs the option oauth"],
  ])('rejects %j', (servers, message) => {
    expect(() => createMcpTools({ servers })).toThrow(message);
  });

  it.each([
    [{ secretEncryptionKey: 'short' }, 'secretEncryptionKey'],
    [{ redirectUrl: 'ftp://x' }, 'redirectUrl'],
    [{ clientMetadataUrl: 'http://x/client.json' }, 'clientMetadataUrl'],
  ])('rejects oauth %j', (wrong, message) => {
    const redirectUrl = 'https://ai.example.com/callback';
    const oauth = { store: createMemoryStore(), secretEncryptionKey: 'b'.repeat(64), redirectUrl, ...wrong };
    expect(() => createMcpTools({ servers: [], oauth })).toThrow(message);
  });
});
