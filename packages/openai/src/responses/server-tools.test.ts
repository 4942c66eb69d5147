import type { Call } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import type { PendingApproval } from './approvals.ts';
import type { RequestTool } from './contract-tools.ts';
import { getServerToolType, readServerTools, type ServerToolSetServices } from './server-tools.ts';

interface Setting {
  readonly tools?: readonly object[];
  readonly max_tool_calls?: number | null;
  readonly hasSearch?: boolean;
  readonly hasOperation?: (id: string) => boolean;
  readonly scopes?: readonly string[];
  /** The names of tools of the client. */
  readonly own?: readonly string[];
  readonly pending?: number;
  /** Whether the tool server has a tool. Default true. */
  readonly hasTools?: boolean;
  /** Whether the list of the tool server is in the request already. */
  readonly isListed?: boolean;
}

const NONE = { mcpTools: [], serverTools: undefined, schemas: [], ignored: [] };
const SERVER = { type: 'mcp', server_label: 's', require_approval: 'never' };

function read({ tools = [], max_tool_calls, hasSearch = true, own = [], pending = 0, ...more }: Setting) {
  const asked: unknown[] = [];
  const offer = { id: 's__t', schema: { name: 's__t', description: 't', parameters: {} } };
  const services = {
    toolRegistry: {
      async find(id: string, scope: object) {
        asked.push([id, scope]);
        return hasSearch ? {} : undefined;
      },
      listServer: async () => ({
        tools: more.hasTools === false ? [] : [{ offer, name: 't', isReadOnly: true }],
      }),
    },
    lakeSearch: {
      findUnreadable: async (userId: string, ids: readonly string[]) =>
        ids.findIndex((id) => userId !== 'ada' || id === 'unknown'),
    },
    ...(more.hasOperation && { hasOperation: more.hasOperation }),
  } as unknown as ServerToolSetServices;
  const caller = {
    kind: 'token',
    userId: 'ada',
    isAdmin: false,
    ...(more.scopes && { scopes: more.scopes }),
  };
  const requested = tools.map((tool, index) => ({
    type: getServerToolType((tool as { type: string }).type) ?? 'mcp',
    tool: tool as RequestTool,
    path: `tools.${index}`,
  }));
  const set = readServerTools(
    services,
    { id: 'call', caller } as unknown as Call,
    { max_tool_calls },
    { requested, find: (name) => (own.includes(name) ? ({} as never) : undefined) },
    {
      pending: Array.from({ length: pending }, (_, at) => {
        const id = `a${at}`;
        return { id, server: 's', tool: 't', arguments: '{}', path: `input.${at}` } as PendingApproval;
      }),
      listed: { has: () => more.isListed === true } as never,
    },
  );
  return { set, asked };
}

describe('tools that the server runs', () => {
  it.each(['web_search', 'web_search_2025_08_26', 'web_search_preview', 'web_search_preview_2025_03_11'])(
    'have a web search by the name %s',
    (type) => {
      expect(getServerToolType(type)).toBe('web_search');
    },
  );

  it('are known by their names only', () => {
    expect(['file_search', 'mcp', 'function', 'shell'].map(getServerToolType)).toEqual([
      ...['file_search', 'mcp'],
      ...[undefined, undefined],
    ]);
  });

  it('are absent where the request names none', async () => {
    expect(await read({}).set).toEqual(NONE);
    expect(await read({ max_tool_calls: null }).set).toEqual(NONE);
    expect(await read({ max_tool_calls: 3 }).set).toEqual({ ...NONE, ignored: ['max_tool_calls'] });
  });

  it.each([
    [undefined, 5],
    ['low', 3],
    ['medium', 5],
    ['high', 10],
  ])('search the web with the size %s for %i results', async (search_context_size, count) => {
    const { set, asked } = read({ tools: [{ type: 'web_search', search_context_size }] });
    const { serverTools, schemas, ignored } = await set;
    expect([serverTools, ignored]).toEqual([{ tools: [{ type: 'web_search', count }], maxCalls: 10 }, []]);
    expect(schemas).toMatchObject([
      { name: 'web_search', parameters: { required: ['query'], additionalProperties: false } },
    ]);
    const scope = { userId: 'ada', sessionId: 'call', payer: { account: 'user:ada', userId: 'ada' } };
    expect(asked).toEqual([['web_search', scope]]);
  });

  it.each([
    [1, 1],
    [50, 50],
    [51, 50],
  ])('run at most 50 calls: %i', async (max_tool_calls, maxCalls) => {
    const { serverTools, ignored } = await read({ tools: [{ type: 'web_search' }], max_tool_calls }).set;
    expect([serverTools?.maxCalls, ignored]).toEqual([maxCalls, []]);
  });

  it('have no web search on a server without one, unless that need not be live', async () => {
    const without = (external_web_access?: boolean) =>
      read({ tools: [{ type: 'web_search', external_web_access }], hasSearch: false, max_tool_calls: 2 }).set;
    expect(await without(false)).toEqual({ ...NONE, ignored: ['tools[0]', 'max_tool_calls'] });
    for (const isLive of [true, undefined]) await expect(without(isLive)).rejects.toThrow('no web search');
  });
});

describe('search of files', () => {
  const search = (more: object = {}) => ({ type: 'file_search', vector_store_ids: ['a', 'b', 'a'], ...more });

  it.each([
    [{}, { limit: 10, minScore: 0 }],
    [
      { max_num_results: 3, ranking_options: { score_threshold: 0.5 } },
      { limit: 3, minScore: 0.5 },
    ],
    [
      { filters: {}, ranking_options: { hybrid_search: {} } },
      { limit: 10, minScore: 0 },
    ],
  ])('reads each data lake once: %j', async (more, limits) => {
    const { serverTools, schemas } = await read({ tools: [search(more)], scopes: ['datalake:query'] }).set;
    expect(serverTools?.tools).toEqual([{ type: 'file_search', lakeIds: ['a', 'b'], ...limits }]);
    expect(schemas).toMatchObject([{ name: 'file_search', parameters: { type: 'object' } }]);
  });

  it.each<[string, object, Setting, number, string]>([
    ['lakes', { vector_store_ids: undefined }, {}, 400, 'tools.0.vector_store_ids'],
    ['known lakes', { vector_store_ids: ['a', 'unknown'] }, {}, 404, 'tools.0.vector_store_ids.1'],
    ['the scope', {}, { scopes: ['ai:chat'] }, 403, 'tools.0.type'],
    ['data lakes', {}, { hasOperation: (id) => id !== 'searchDataLake' }, 400, 'tools.0.type'],
    ['support of filters', { filters: { a: 1 } }, {}, 400, 'tools.0.filters'],
    [
      'weights',
      { ranking_options: { hybrid_search: { a: 1 } } },
      {},
      400,
      'tools.0.ranking_options.hybrid_search',
    ],
  ])('needs %s', async (_name, more, setting, status, path) => {
    const { set } = read({ tools: [search(more)], ...setting });
    await expect(set).rejects.toMatchObject({ status, details: [{ path }] });
  });

  it('works where the host has the operation', async () => {
    const { serverTools } = await read({ tools: [search()], hasOperation: () => true }).set;
    expect(serverTools?.tools).toHaveLength(1);
  });
});

describe('tools of a tool server', () => {
  it('come with their list, unless the request has it', async () => {
    const { mcpTools, serverTools, schemas } = await read({ tools: [SERVER], max_tool_calls: 2 }).set;
    expect(mcpTools).toMatchObject([{ type: 'mcp', id: 's__t', target: { server: 's', tool: 't' } }]);
    expect(serverTools).toMatchObject({
      tools: mcpTools,
      maxCalls: 2,
      lists: [{ type: 'server_tool_list' }],
    });
    expect(schemas).toMatchObject([{ name: 's__t' }]);
    const known = await read({ tools: [SERVER], isListed: true }).set;
    expect(known.serverTools).toEqual({ tools: known.mcpTools, maxCalls: 10 });
  });

  it('come after the searches', async () => {
    const { serverTools, schemas } = await read({ tools: [SERVER, { type: 'web_search' }] }).set;
    expect(serverTools?.tools.map(({ type }) => type)).toEqual(['web_search', 'mcp']);
    expect(schemas.map(({ name }) => name)).toEqual(['web_search', 's__t']);
  });

  it('have names of their own', async () => {
    await expect(read({ tools: [SERVER], own: ['s__t'] }).set).rejects.toMatchObject({
      message: 'tools[0]: another tool has the name s__t',
    });
  });

  it('are listed even if the server has none', async () => {
    const { serverTools } = await read({ tools: [SERVER], hasTools: false }).set;
    expect(serverTools).toMatchObject({ tools: [], lists: [{ type: 'server_tool_list', tools: [] }] });
  });

  it('continue an approved call', async () => {
    const { serverTools } = await read({ tools: [SERVER], pending: 1 }).set;
    const target = { server: 's', tool: 't', approvalId: 'a0' };
    expect(serverTools?.approved).toEqual([{ id: 'a0', name: 's__t', arguments: '{}', target }]);
  });

  it('continue at most 50 approved calls', async () => {
    await expect(read({ pending: 51 }).set).rejects.toThrow('input: expected at most 50 approvals');
    await expect(read({ pending: 50 }).set).rejects.not.toThrow('at most 50');
  });
});
