import { describe, expect, it } from 'vitest';
import { createResponse } from './contract.ts';
import { type OfferedTools, readTools, toToolFields } from './tools.ts';

const read = (fields: object) => createResponse.input.body.parse({ model: 'm', input: 'Hi', ...fields });
const EARLIER = { count: 0, field: 'previous_response_id' } as const;
const offer = (tools: readonly object[]) => readTools(read({ tools }), [], EARLIER);
const fn = (name: string) => ({ type: 'function', name });
const custom = (name: string) => ({ type: 'custom', name });
const ANY = { type: 'object', properties: {} };

describe('choice of tools of a response', () => {
  const TOOLS = [fn('f'), custom('c'), { type: 'web_search' }];
  const SCHEMAS = ['f', 'c', 'web_search', 'mcp_a', 'mcp_b'].map((name) => ({
    name,
    description: '',
    parameters: ANY,
  }));
  const only = (...names: string[]) => SCHEMAS.filter(({ name }) => names.includes(name));
  const mcp = (id: string, tool: string) => ({
    type: 'mcp' as const,
    id,
    target: { server: 's', tool },
    needsApproval: false,
  });
  const choose = (tool_choice: unknown, more: Partial<OfferedTools> = {}) => {
    const { find } = offer(TOOLS);
    const mcpTools = [mcp('mcp_a', 'a'), mcp('mcp_b', 'b')];
    return toToolFields(read({ tool_choice }), { find, schemas: SCHEMAS, mcpTools, ...more });
  };
  const allow = (tools: object[], mode?: string) => ({ type: 'allowed_tools', tools, ...(mode && { mode }) });

  it.each<[unknown, object]>([
    [null, { tools: SCHEMAS }],
    ['auto', { tools: SCHEMAS, toolChoice: 'auto' }],
    ['required', { tools: SCHEMAS, toolChoice: 'required' }],
    [fn('f'), { tools: SCHEMAS, toolChoice: { name: 'f' } }],
    [custom('c'), { tools: SCHEMAS, toolChoice: { name: 'c' } }],
    [{ type: 'web_search' }, { tools: SCHEMAS, toolChoice: { name: 'web_search' } }],
    [
      { type: 'mcp', server_label: 's', name: 'b' },
      { tools: SCHEMAS, toolChoice: { name: 'mcp_b' } },
    ],
    [
      { type: 'mcp', server_label: 's' },
      { tools: only('mcp_a', 'mcp_b'), toolChoice: 'required' },
    ],
    [allow([fn('f')]), { tools: only('f'), toolChoice: 'auto' }],
    [
      allow([custom('c'), { type: 'web_search' }, { type: 'mcp', server_label: 's', name: 'a' }], 'required'),
      { tools: only('c', 'web_search', 'mcp_a'), toolChoice: 'required' },
    ],
  ])('%j is that of a model', (choice, expected) => {
    expect(choose(choice)).toEqual(expected);
  });

  it('is that of a single tool', () => {
    const schemas = SCHEMAS.slice(0, 1);
    expect(choose('auto', { schemas })).toEqual({ tools: schemas, toolChoice: 'auto' });
    expect(choose(null, { schemas })).toEqual({ tools: schemas });
  });

  it('is absent without tools', () => {
    expect([null, 'auto', 'none'].map((choice) => choose(choice, { schemas: [] }))).toEqual([{}, {}, {}]);
    expect(() => choose('required', { schemas: [] })).toThrow('tool_choice: the request offers no tools');
  });

  it.each<[unknown, string, string]>([
    [fn('g'), 'tool_choice', 'the request offers no tool of this name'],
    [{ type: 'function' }, 'tool_choice.name', 'is required'],
    [{ type: 'file_search' }, 'tool_choice', 'the request offers no file_search'],
    [{ type: 'mcp' }, 'tool_choice.server_label', 'is required'],
    [
      { type: 'mcp', server_label: 'other' },
      'tool_choice',
      'the request offers no such tool of a tool server',
    ],
    [
      { type: 'mcp', server_label: 's', name: 'c' },
      'tool_choice',
      'the request offers no such tool of a tool server',
    ],
    [allow([]), 'tool_choice.tools', 'expected at least one tool'],
    [allow([fn('f'), fn('g')]), 'tool_choice.tools.1', 'the request offers no tool of this name'],
    [{ type: 'code_interpreter' }, 'tool_choice.type', 'not supported: code_interpreter'],
    [{ type: 'x'.repeat(200) }, 'tool_choice.type', `not supported: ${'x'.repeat(100)}`],
  ])('%j is refused', (choice, path, message) => {
    expect(() => choose(choice)).toThrow(
      expect.objectContaining({ status: 400, details: [{ path, message }] }),
    );
  });
});
