import { setImmediate as turn } from 'node:timers/promises';
import { TOOL_CREDENTIALS } from '@questline/core/internal';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createMcpTools, type McpTools, type McpToolsOptions } from '../src/index.ts';
import { createFlow } from './oauth/flow.ts';
import { stubServer, URL_OF_SERVER } from './scripted-server.ts';

const scopeOf = (userId: string) => ({
  ...{ userId, sessionId: 's', payer: { account: `user:${userId}`, userId } },
});
const made: McpTools[] = [];

afterEach(async () => {
  vi.useRealTimers();
  for (const tools of made.splice(0)) await tools.close();
  vi.unstubAllGlobals();
});

function create(options: Partial<McpToolsOptions> = {}): McpTools {
  const tools = createMcpTools({ servers: [{ id: 'one', url: URL_OF_SERVER }], ...options });
  made.push(tools);
  return tools;
}

const never = () => new Promise<never>(() => undefined);

/** Advances the timers to one millisecond before a time, then to that time. @returns whether the work was over at each. */
async function isOverAt(ms: number, work: Promise<unknown> | undefined): Promise<readonly boolean[]> {
  let isOver = false;
  void work?.then(() => {
    isOver = true;
  });
  await vi.advanceTimersByTimeAsync(ms - 1);
  const before = isOver;
  await vi.advanceTimersByTimeAsync(1);
  return [before, isOver];
}

describe('the options of tools', () => {
  it('limit the time of a connection and of a call', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { answers } = stubServer();
    const run = (tools: McpTools) => {
      const { signal } = new AbortController();
      const context = { ...scopeOf('ada'), callKey: 'k', requestId: 'r', signal };
      return tools.run({ tool: 'one__one', input: {} }, context);
    };
    answers.set('tools/call', never);
    for (const [options, ms] of [
      [{}, 60_000],
      [{ callTimeoutMs: 70 }, 70],
    ] as const)
      expect(await isOverAt(ms, run(create(options)))).toEqual([false, true]);
    answers.set('server/discover', never);
    for (const [options, ms] of [
      [{}, 5000],
      [{ connectTimeoutMs: 70 }, 70],
    ] as const)
      expect(await isOverAt(ms, Promise.resolve(create(options).list(scopeOf('ada'))))).toEqual([
        false,
        true,
      ]);
  });

  it('limit the idle connections of users', async () => {
    for (const [options, max] of [
      [{}, 100],
      [{ maxConnections: 3 }, 3],
    ] as const) {
      const { of } = stubServer();
      const servers = [{ id: 'one', url: URL_OF_SERVER, headers: () => ({}) }];
      const tools = create({ ...options, servers });
      for (let user = 1; user <= max; user += 1) await tools.list(scopeOf(`user-${user}`));
      expect(of('DELETE')).toEqual([]);
      await tools.list(scopeOf('one more'));
      await vi.waitFor(() => expect(of('DELETE')).toHaveLength(1));
    }
  });

  it('limit the time of an idle connection of a user', async () => {
    for (const [options, ms] of [
      [{}, 600_000],
      [{ idleMs: 70 }, 70],
    ] as const) {
      const { of } = stubServer();
      let now = 0;
      const servers = [{ id: 'one', url: URL_OF_SERVER, headers: () => ({}) }];
      const tools = create({ ...options, servers, now: () => now });
      await tools.list(scopeOf('ada'));
      now += ms - 1;
      await tools.list(scopeOf('eve'));
      expect(of('DELETE')).toEqual([]);
      now += 1;
      await tools.list(scopeOf('eve'));
      await vi.waitFor(() => expect(of('DELETE')).toHaveLength(1));
    }
  });

  it('have the servers that users authorize themselves', async () => {
    const { options } = createFlow().parts;
    const servers = [
      { id: 'plain', url: URL_OF_SERVER },
      { id: 'own', url: URL_OF_SERVER, authorize: () => ({ token: async () => undefined }) },
      { id: 'child', command: 'none' },
      { id: 'notes', url: URL_OF_SERVER, authorize: 'oauth' as const },
    ];
    const tools = create({ servers, oauth: options });
    expect(await tools.oauth?.list('ada')).toEqual([{ id: 'notes', connected: false }]);
    expect('oauth' in create()).toBe(false);
  });

  it('disconnect a user from a server', async () => {
    // Tokens of an earlier encryption key are deleted, too.
    const { connect, store, parts } = createFlow({ secretEncryptionKey: 'c'.repeat(64) });
    await connect('ada');
    const records = store.collection(TOOL_CREDENTIALS);
    expect(await records.find({})).toHaveLength(1);
    const oauth = { ...parts.options, secretEncryptionKey: 'b'.repeat(64) };
    const servers = [{ id: 'diary', url: URL_OF_SERVER, authorize: 'oauth' as const }];
    const tools = create({ servers, oauth });
    await tools.disconnect?.('eve', 'diary');
    expect(await records.find({})).toHaveLength(1);
    await tools.disconnect?.('ada', 'diary');
    expect(await records.find({})).toEqual([]);
    await create().disconnect?.('ada', 'diary');
    const failure = new Error('the store is away');
    const away = {
      ...store,
      collection: () => ({ ...records, take: () => Promise.reject(failure) }),
    } as unknown as typeof store;
    const failing = create({ servers, oauth: { ...oauth, store: away } });
    await expect(failing.disconnect?.('ada', 'diary')).rejects.toBe(failure);
  });
});

describe('the stream of a server', () => {
  /** A server whose stream the test writes. */
  function stubStream() {
    const server = stubServer();
    const state: { controller?: ReadableStreamDefaultController<Uint8Array>; isCancelled: boolean } = {
      isCancelled: false,
    };
    server.answers.set('GET', () => {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          state.controller = controller;
        },
        cancel() {
          state.isCancelled = true;
        },
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    });
    return { ...server, state };
  }

  it('announces changes of the tools, which are listed when they are next needed', async () => {
    const { answers, of, state } = stubStream();
    const tools = create();
    await tools.list(scopeOf('ada'));
    await vi.waitFor(() => expect(state.controller).not.toBeUndefined());
    answers.set('tools/list', () => ({ tools: [] }));
    const change = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';
    state.controller?.enqueue(new TextEncoder().encode(`data: ${change}\n\n`));
    await vi.waitFor(async () => expect(await tools.list(scopeOf('ada'))).toEqual([]));
    expect(of('tools/list')).toHaveLength(2);
  });

  it('reports its failure', async () => {
    const { state } = stubStream();
    const errors: unknown[] = [];
    const tools = create({ onError: (error) => void errors.push(error) });
    await tools.list(scopeOf('ada'));
    await vi.waitFor(() => expect(state.controller).not.toBeUndefined());
    expect(errors).toEqual([]);
    state.controller?.error(new TypeError('terminated'));
    await vi.waitFor(() => expect(errors).not.toEqual([]));
  });
});

describe('the end of the tools', () => {
  it('waits for the end of each session', async () => {
    const { answers, of } = stubServer();
    let end: (() => void) | undefined;
    answers.set('DELETE', async () => {
      await new Promise<void>((resolve) => {
        end = resolve;
      });
      return new Response();
    });
    const tools = create();
    await tools.list(scopeOf('ada'));
    let isOver = false;
    const closing = tools.close().then(() => {
      isOver = true;
    });
    await vi.waitFor(() => expect(of('DELETE')).toHaveLength(1));
    await turn();
    expect(isOver).toBe(false);
    end?.();
    await closing;
  });
});
