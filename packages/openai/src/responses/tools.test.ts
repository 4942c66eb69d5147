import type { ToolSchema } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { toCallEvents } from './calls.ts';
import { createResponse } from './contract.ts';
import { readCustomInput, readTools, toCustomArguments, toModelName, toModelNames } from './tools.ts';

const read = (fields: object) => createResponse.input.body.parse({ model: 'm', input: 'Hi', ...fields });
const EARLIER = { count: 0 } as Parameters<typeof readTools>[2];

/** The tools of a request, and of items in its input. */
function offer(tools: readonly object[], ...items: readonly object[]) {
  const body = read({ tools, ...(items.length > 0 && { input: items }) });
  const given = typeof body.input === 'string' ? [] : body.input;
  return readTools(body, given as Parameters<typeof readTools>[1], EARLIER);
}

const fn = (name: string, more: object = {}) => ({ type: 'function', name, ...more });
const custom = (name: string, more: object = {}) => ({ type: 'custom', name, ...more });
const namespace = (name: string | undefined, ...tools: object[]) => ({
  type: 'namespace',
  name,
  description: 'N',
  tools,
});
const ANY = { type: 'object', properties: {} };
const INPUT = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input of the tool, as plain text.' } },
  required: ['input'],
  additionalProperties: false,
};

describe('tools of a response', () => {
  it.each<[object, ToolSchema[]]>([
    [fn('f'), [{ name: 'f', description: '', parameters: ANY }]],
    [fn('f', { description: null, parameters: null }), [{ name: 'f', description: '', parameters: ANY }]],
    [
      fn('f', { description: 'F', parameters: { type: 'object', a: 1 } }),
      [{ name: 'f', description: 'F', parameters: { type: 'object', a: 1 } }],
    ],
    [custom('c'), [{ name: 'c', description: '', parameters: INPUT }]],
    [custom('c', { format: { type: 'grammar' } }), [{ name: 'c', description: '', parameters: INPUT }]],
    [fn('f', { execution: 'client' }), [{ name: 'f', description: '', parameters: ANY }]],
    [
      custom('c', {
        description: 'C',
        format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' },
      }),
      [
        {
          name: 'c',
          description: 'C\n\nThe input follows this lark grammar:\nstart: "a"',
          parameters: INPUT,
        },
      ],
    ],
    [
      custom('c', { format: { type: 'grammar', definition: 'a' } }),
      [{ name: 'c', description: 'The input follows this formal grammar:\na', parameters: INPUT }],
    ],
    [
      custom('c', { description: 'C', format: { type: 'text' } }),
      [{ name: 'c', description: 'C', parameters: INPUT }],
    ],
    [
      namespace('n', fn('f'), custom('c')),
      [
        { name: 'n__f', description: '', parameters: ANY },
        { name: 'n__c', description: '', parameters: INPUT },
      ],
    ],
    [namespace('n_', fn('f')), [{ name: 'n_f', description: '', parameters: ANY }]],
    [
      { type: 'tool_search', execution: 'client', description: 'S' },
      [{ name: 'tool_search', description: 'S', parameters: ANY }],
    ],
  ])('%j are functions for the model', (tool, schemas) => {
    expect(offer([tool]).schemas).toEqual(schemas);
  });

  it('are known to the client by their own names', () => {
    const { find, entries } = offer([
      fn('f'),
      namespace('n', custom('c')),
      { type: 'tool_search', execution: 'client' },
    ]);
    const table = {
      f: { kind: 'function', name: 'f', namespace: undefined },
      n__c: { kind: 'custom', name: 'c', namespace: 'n' },
      tool_search: { kind: 'search', name: 'tool_search', namespace: undefined },
    };
    expect(Object.fromEntries(entries)).toEqual(table);
    for (const [name, tool] of Object.entries(table)) expect(find(name)).toEqual(tool);
    expect(find('c')).toBeUndefined();
  });

  it('of the server are requested, each once', () => {
    const web = { type: 'web_search' };
    const [a, b] = ['a', 'b'].map((server_label) => ({ type: 'mcp', server_label }));
    const { schemas, requested } = offer([web, a ?? {}, b ?? {}]);
    expect(schemas).toEqual([]);
    expect(requested).toMatchObject([
      { type: 'web_search', path: 'tools.0' },
      { type: 'mcp', tool: a, path: 'tools.1' },
      { type: 'mcp', tool: b, path: 'tools.2' },
    ]);
  });

  it('of items are added once, and never replace others', () => {
    const added = (...tools: object[]) => ({ type: 'additional_tools', tools });
    const found = { type: 'tool_search_output', call_id: 'c', tools: [fn('h')] };
    const web = { type: 'web_search' };
    const { schemas, requested } = offer(
      [fn('f'), web],
      added(fn('f', { description: 'other' }), fn('g'), web),
      found,
    );
    expect(schemas.map(({ name, description }) => [name, description])).toEqual([
      ['f', ''],
      ['g', ''],
      ['h', ''],
    ]);
    expect(requested).toHaveLength(1);
    expect(() => offer([], added({ type: 'odd' }))).toThrow(
      expect.objectContaining({ details: [expect.objectContaining({ path: 'input.0.tools.0.type' })] }),
    );
  });

  it.each<[string, object[], string, string]>([
    ['two of one name', [fn('f'), custom('f')], 'tools.1.name', 'another tool has this name'],
    ['one without a name', [{ type: 'function' }], 'tools.0.name', 'is required'],
    ['a namespace without a name', [{ type: 'namespace', tools: [] }], 'tools.0.name', 'is required'],
    [
      'one of a namespace without a name',
      [namespace('n', { type: 'function' })],
      'tools.0.tools.0.name',
      'is required',
    ],
    [
      'one of the server twice',
      [{ type: 'web_search' }, { type: 'web_search' }],
      'tools.1.type',
      'the request offers web_search twice',
    ],
    [
      'a tool server twice',
      [
        { type: 'mcp', server_label: 'a' },
        { type: 'mcp', server_label: 'a' },
      ],
      'tools.1.type',
      'the request offers mcp a twice',
    ],
    [
      'one named like one of the server',
      [fn('web_search'), { type: 'web_search' }],
      'tools.1.type',
      'another tool has the name web_search',
    ],
    [
      'one named like one of the server before it',
      [{ type: 'web_search' }, fn('web_search')],
      'tools.1.name',
      'another tool has this name',
    ],
    [
      'one of the vendor',
      [{ type: 'code_interpreter' }],
      'tools.0.type',
      'not supported: code_interpreter: offer a function instead',
    ],
    [
      'a dated one',
      [{ type: 'local_shell_2026_01_02' }],
      'tools.0.type',
      'not supported: local_shell: offer a function instead',
    ],
    [
      'images',
      [{ type: 'image_generation' }],
      'tools.0.type',
      'not supported: image_generation: use images/generations',
    ],
    [
      'a search by the server',
      [{ type: 'tool_search' }],
      'tools.0.type',
      'not supported: tool_search: set execution to client, or offer all tools',
    ],
    [
      'a long one',
      [{ type: 'x'.repeat(200) }],
      'tools.0.type',
      `not supported: ${'x'.repeat(100)}: offer functions or custom tools`,
    ],
    [
      'another one',
      [{ type: 'toString' }],
      'tools.0.type',
      'not supported: toString: offer functions or custom tools',
    ],
    [
      'one of the server in a namespace',
      [namespace('n', { type: 'web_search', name: 'w' })],
      'tools.0.tools.0.type',
      'not supported: web_search: offer functions or custom tools',
    ],
  ])('are refused with %s', (_title, tools, path, message) => {
    expect(() => offer(tools)).toThrow(
      expect.objectContaining({ status: 400, details: [{ path, message }] }),
    );
  });
});

describe('names of tools for a model', () => {
  it('have their namespace in front', () => {
    expect([undefined, null, '', 'n', 'n_'].map((space) => toModelName('f', space))).toEqual([
      'f',
      'f',
      'f',
      'n__f',
      'n_f',
    ]);
    const { tools = [] } = read({ tools: [fn('f'), namespace('n', fn('g'), fn('h'))] });
    expect(toModelNames(tools ?? [])).toEqual(['f', 'n__g', 'n__h']);
  });

  it('of custom tools have one text as their arguments', () => {
    expect(toCustomArguments('a')).toEqual({ input: 'a' });
    expect(['{"input":"a"}', '{"input":7}', '{}'].map(readCustomInput)).toEqual(['a', '{"input":7}', '{}']);
  });
});

describe('call of a tool in a response', () => {
  const { find } = offer([
    fn('f'),
    namespace('n', fn('g')),
    custom('c'),
    { type: 'tool_search', execution: 'client' },
  ]);
  const call = (name: string, text: string) =>
    toCallEvents({ type: 'tool_use', id: 'x', name, arguments: text }, { find }, '1_0');

  it.each([
    ['f', { name: 'f' }],
    ['n__g', { name: 'g', namespace: 'n' }],
    ['unknown', { name: 'unknown' }],
  ])('of the function %s has its arguments', (modelName, named) => {
    const item = { id: 'fc_1_0', type: 'function_call', call_id: 'x', ...named };
    expect(call(modelName, '{"a":1}')).toEqual({
      begun: { ...item, status: 'in_progress', arguments: '' },
      progress: [
        ['response.function_call_arguments.delta', { delta: '{"a":1}' }],
        ['response.function_call_arguments.done', { name: named.name, arguments: '{"a":1}' }],
      ],
      done: { ...item, status: 'completed', arguments: '{"a":1}' },
    });
  });

  it('of a custom tool has its text', () => {
    const item = { id: 'ctc_1_0', type: 'custom_tool_call', call_id: 'x', name: 'c' };
    expect(call('c', '{"input":"a"}')).toEqual({
      begun: { ...item, status: 'in_progress', input: '' },
      progress: [
        ['response.custom_tool_call_input.delta', { delta: 'a' }],
        ['response.custom_tool_call_input.done', { input: 'a' }],
      ],
      done: { ...item, status: 'completed', input: 'a' },
    });
  });

  it('of the search has its arguments at once', () => {
    const item = { id: 'tsc_1_0', type: 'tool_search_call', call_id: 'x', execution: 'client' };
    expect(call('tool_search', '{"a":1}')).toEqual({
      begun: { ...item, status: 'in_progress', arguments: {} },
      progress: [],
      done: { ...item, status: 'completed', arguments: { a: 1 } },
    });
  });
});

describe('credentials in tools', () => {
  it('are removed from tools that are not of a tool server', () => {
    const secrets = { authorization: 'secret', headers: { 'X-Key': 'secret' } };
    const body = read({ tools: [fn('f', secrets), namespace('n', custom('g', secrets))] });
    expect(body.tools).toEqual([fn('f'), namespace('n', custom('g'))]);
  });

  it.each(['authorization', 'headers'])('of tool servers are refused, with their place: %s', (field) => {
    const server = { type: 'mcp', server_label: 's' };
    const parse = (value: unknown) =>
      createResponse.input.body.safeParse({
        model: 'm',
        input: 'Hi',
        tools: [fn('f'), { ...server, [field]: value }],
      });
    expect(parse({ a: 'secret' }).error?.issues).toMatchObject([
      {
        path: ['tools', 1, field],
        message: expect.stringContaining(`not supported: leave ${field} out`),
      },
    ]);
    expect(parse(null).data?.tools).toEqual([fn('f'), server]);
  });
});
