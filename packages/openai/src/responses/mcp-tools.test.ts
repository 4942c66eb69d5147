import type { Call } from '@questline/core/internal';
import type { ToolServerOffer, ToolServerOffers } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createResponse } from './contract.ts';
import type { WholeItem } from './contract-items.ts';
import { readListedServers } from './listed-servers.ts';
import { readMcpServer, toApprovedCall } from './mcp-tools.ts';

const schema = (name: string) => ({ name: `s__${name}`, description: name, parameters: { type: 'object' } });
const offer = (name: string, isReadOnly: boolean, more: Partial<ToolServerOffer> = {}): ToolServerOffer =>
  ({ offer: { id: `s__${name}`, schema: schema(name) }, name, isReadOnly, ...more }) as ToolServerOffer;
const READ = offer('read', true);
const WRITE = offer('write', false);
const CONNECT = offer('connect', true, { connects: true });

async function open(fields: object, found: ToolServerOffers | undefined = { tools: [READ, WRITE] }) {
  const { tools } = createResponse.input.body.parse({
    model: 'm',
    input: 'Hi',
    tools: [{ type: 'mcp', server_label: 's', require_approval: 'never', ...fields }],
  });
  const [tool] = tools ?? [];
  if (tool === undefined) throw new Error('expected a tool');
  const scopes: unknown[] = [];
  const toolRegistry = {
    async listServer(id: string, scope: object) {
      scopes.push([id, scope]);
      return found;
    },
  };
  const call = { id: 'session', caller: { userId: 'u1' } } as unknown as Call;
  const server = await readMcpServer({ toolRegistry }, call, { type: 'mcp', tool, path: 'tools.0' });
  return { ...server, scopes };
}

describe('tool server of a response', () => {
  it('has its tools for the user', async () => {
    const { tools, schemas, list, scopes } = await open({});
    const tool = (name: string) => ({
      type: 'mcp',
      id: `s__${name}`,
      target: { server: 's', tool: name },
      needsApproval: false,
    });
    expect(tools).toEqual([tool('read'), tool('write')]);
    expect(schemas).toEqual([schema('read'), schema('write')]);
    expect(list).toEqual({
      type: 'server_tool_list',
      server: 's',
      tools: [
        { name: 'read', description: 'read', parameters: { type: 'object' }, isReadOnly: true },
        { name: 'write', description: 'write', parameters: { type: 'object' }, isReadOnly: false },
      ],
    });
    expect(scopes).toEqual([['s', expect.objectContaining({ userId: 'u1', sessionId: 'session' })]]);
  });

  it.each<[unknown, string[]]>([
    [null, ['read', 'write']],
    [[], []],
    [['write'], ['write']],
    [{}, []],
    [{ read_only: true }, ['read']],
    [{ read_only: false }, ['write']],
    [{ tool_names: ['write'] }, ['write']],
    [{ tool_names: ['write'], read_only: true }, []],
    [{ tool_names: null, read_only: null }, []],
  ])('has the allowed tools of %j, and always the one that connects', async (allowed_tools, names) => {
    const { tools, schemas } = await open({ allowed_tools }, { tools: [READ, WRITE, CONNECT] });
    expect(tools.map(({ target }) => target.tool)).toEqual([...names, 'connect']);
    expect(schemas).toHaveLength(tools.length);
  });

  it.each<[unknown, string[]]>([
    [undefined, ['read', 'write']],
    [null, ['read', 'write']],
    ['always', ['read', 'write']],
    ['never', []],
    [{}, ['read', 'write']],
    [{ never: { read_only: true } }, ['write']],
    [{ never: { tool_names: ['write'] } }, ['read']],
    [{ never: {} }, ['read', 'write']],
    [{ always: { tool_names: ['read'] } }, ['read', 'write']],
    [{ always: { tool_names: ['read'] }, never: { tool_names: ['read', 'write'] } }, ['read']],
  ])(
    'asks with require_approval %j before calls of %j, and never to connect',
    async (require_approval, names) => {
      const { tools } = await open({ require_approval }, { tools: [READ, WRITE, CONNECT] });
      expect(tools.filter(({ needsApproval }) => needsApproval).map(({ target }) => target.tool)).toEqual(
        names,
      );
    },
  );

  it.each<[string, object, string]>([
    ['no name', { server_label: undefined }, 'tools.0.server_label'],
    ['a connector', { connector_id: 'c' }, 'tools.0.connector_id'],
    ['a tunnel', { tunnel_id: 't' }, 'tools.0.tunnel_id'],
    ['another address', { server_url: 'https://other.example' }, 'tools.0.server_url'],
    ['no address', { server_url: 'none' }, 'tools.0.server_url'],
  ])('is refused with %s', async (_title, fields, path) => {
    const found = { tools: [], url: 'https://a.example/mcp' };
    await expect(open(fields, found)).rejects.toMatchObject({ status: 400, details: [{ path }] });
    await expect(open(fields, { tools: [] })).rejects.toMatchObject({ status: 400, details: [{ path }] });
  });

  it('is accepted with its own address, however it is written', async () => {
    const found = { tools: [READ], url: 'https://a.example' };
    expect((await open({ server_url: 'HTTPS://a.example:443/' }, found)).tools).toHaveLength(1);
    expect((await open({ server_url: null, connector_id: null }, found)).tools).toHaveLength(1);
  });

  it('is named unknown, and not asked for at another address', async () => {
    const toolRegistry = {};
    const call = { id: 'session', caller: { userId: 'u1' } } as unknown as Call;
    const ask = (fields: object) =>
      readMcpServer({ toolRegistry }, call, {
        type: 'mcp',
        tool: { type: 'mcp', server_label: 's', ...fields } as never,
        path: 'tools.0',
      });
    await expect(ask({})).rejects.toMatchObject({ details: [{ path: 'tools.0.server_label' }] });
    await expect(ask({ server_url: 'https://a.example' })).rejects.toMatchObject({
      details: [{ path: 'tools.0.server_url' }],
    });
  });

  it('says why it has no tools', async () => {
    expect((await open({}, { tools: [], error: 'It is away.' })).list).toMatchObject({
      tools: [],
      error: 'It is away.',
    });
  });
});

describe('approved call of a tool server', () => {
  const pending = { id: 'a1', server: 's', tool: 'write', arguments: '{}', path: 'input.1' };

  it('is a call of a tool that the request offers', async () => {
    const { tools } = await open({});
    const target = { server: 's', tool: 'write', approvalId: 'a1' };
    expect(toApprovedCall(pending, tools)).toEqual({ id: 'a1', name: 's__write', arguments: '{}', target });
    for (const other of [{ tool: 'burn' }, { server: 'other' }]) {
      expect(() => toApprovedCall({ ...pending, ...other }, tools)).toThrow(
        expect.objectContaining({
          status: 400,
          details: [expect.objectContaining({ path: 'input.1.approval_request_id' })],
        }),
      );
    }
  });
});

describe('list of a tool server in a conversation', () => {
  const parameters = { type: 'object', a: 1, b: null };
  const tool = { name: 't', description: 'T', parameters, isReadOnly: true };
  const list = (more: object = {}) =>
    ({ type: 'server_tool_list', server: 's', tools: [tool], ...more }) as const;
  const item = (more: object = {}): WholeItem =>
    ({
      type: 'mcp_list_tools',
      server_label: 's',
      tools: [
        {
          annotations: { read_only: true },
          name: 't',
          input_schema: { b: null, a: 1, type: 'object' },
          description: 'T',
        },
      ],
      ...more,
    }) as unknown as WholeItem;
  const has = (items: WholeItem[], asked: ReturnType<typeof list>) => readListedServers(items).has(asked);

  it('is not repeated while it is the same, in any order of its fields', () => {
    expect(has([item()], list())).toBe(true);
    expect(has([item({ tools: [] }), item()], list())).toBe(true);
    expect(has([item(), item({ tools: [] })], list())).toBe(false);
    expect(has([item()], list({ server: 'other' }))).toBe(false);
    expect(has([item()], list({ tools: [{ ...tool, isReadOnly: false }] }))).toBe(false);
    expect(has([item()], list({ tools: [tool, tool] }))).toBe(false);
    expect(has([], list())).toBe(false);
  });

  it('is repeated when it fails, so that every response says why', () => {
    expect(has([item()], list({ tools: [], error: 'Oh' }))).toBe(false);
    expect(has([item({ tools: [], error: 'Oh' })], list())).toBe(false);
    expect(has([item({ tools: [], error: 'Oh' })], list({ tools: [], error: 'Oh' }))).toBe(false);
  });
});
