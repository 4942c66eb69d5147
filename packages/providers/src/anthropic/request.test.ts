import type { GenerateRequest, ModelContent } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { getFamily } from './families.ts';
import { messageCall } from './request.ts';

const text = (value: string): ModelContent => ({ type: 'text', text: value });
const HELLO = { maxTokens: 9000, messages: [{ role: 'user', content: [text('Hi')] }] } as const;
const TOOLS = ['f', 'g'].map((name) => ({ name, description: name, parameters: { type: 'object' } }));

/** The fields of the request beside those of every request. */
function build(model: string, fields: Partial<GenerateRequest> = {}) {
  const {
    max_tokens,
    messages,
    model: _,
    stream,
    ...body
  } = messageCall({ ...HELLO, model, ...fields }, 'v').body;
  return body;
}

describe('model of Anthropic', () => {
  const NAMES = [
    'adaptiveThinking',
    'optionalThinking',
    'effort',
    'sampling',
    'forcedTools',
    'schemas',
    'bindsThoughts',
  ] as const;

  it.each([
    ['claude-3-5-haiku-20241022', 'optionalThinking sampling forcedTools'],
    ['claude-sonnet-4-20250514', 'optionalThinking sampling forcedTools'],
    ['claude-opus-4-1-20250805', 'optionalThinking sampling forcedTools schemas'],
    ['claude-haiku-4-5', 'optionalThinking sampling forcedTools schemas'],
    ['claude-opus-4-5', 'optionalThinking effort sampling forcedTools schemas'],
    ['claude-sonnet-4-6', 'adaptiveThinking optionalThinking effort sampling forcedTools schemas'],
    ['claude-opus-4-7', 'adaptiveThinking optionalThinking effort forcedTools schemas'],
    ['claude-haiku-5-5', 'adaptiveThinking optionalThinking effort forcedTools schemas'],
    ['claude-opus-5-5-20260901', 'adaptiveThinking effort schemas bindsThoughts'],
    ['claude-fable-5', 'adaptiveThinking effort forcedTools schemas'],
    ['claude-fable-5-1', 'adaptiveThinking effort schemas bindsThoughts'],
    ['claude-sonnet-12', 'adaptiveThinking optionalThinking effort forcedTools schemas'],
  ])('%s has the features of its family: %s', (model, features) => {
    const family = getFamily(model);
    expect(NAMES.filter((name) => family[name]).join(' ')).toBe(features);
  });
});

describe('request to Anthropic', () => {
  it.each<[string, string, Partial<GenerateRequest>, object]>([
    ['temperatures up to 1', 'claude-haiku-4-5', { temperature: 2 }, { temperature: 1 }],
    ['top_p alone', 'claude-haiku-4-5', { topP: 0 }, { top_p: 0 }],
    [
      'no top_p beside a temperature',
      'claude-haiku-4-5',
      { temperature: 0, topP: 0, topK: 0 },
      { temperature: 0, top_k: 0 },
    ],
    ['no sampling where it is refused', 'claude-opus-4-7', { temperature: 0, topP: 0, topK: 0 }, {}],
    ['no blank stops', 'claude-haiku-4-5', { stop: [' ', '\n', 'a'] }, { stop_sequences: ['a'] }],
    ['no stops but blank ones', 'claude-haiku-4-5', { stop: [' '] }, {}],
    [
      'a budget without sampling',
      'claude-haiku-4-5',
      { thinking: { budgetTokens: 2000 }, temperature: 0, topK: 1 },
      { thinking: { type: 'enabled', budget_tokens: 2000 } },
    ],
    ['no effort for a model without levels', 'claude-haiku-4-5', { reasoningEffort: 'high' }, {}],
    [
      'the highest effort of an older model',
      'claude-opus-4-5',
      { reasoningEffort: 'xhigh' },
      { output_config: { effort: 'high' } },
    ],
    [
      'the highest effort of a newer model',
      'claude-haiku-5-5',
      { reasoningEffort: 'xhigh' },
      { output_config: { effort: 'xhigh' } },
    ],
    [
      'a low effort of an older model',
      'claude-opus-4-5',
      { reasoningEffort: 'low' },
      { output_config: { effort: 'low' } },
    ],
    ['no effort where thinking is off', 'claude-opus-4-5', { reasoningEffort: 'none' }, {}],
    ['thinking off', 'claude-haiku-5-5', { reasoningEffort: 'none' }, { thinking: { type: 'disabled' } }],
    [
      'thinking with effort none',
      'claude-haiku-5-5',
      { reasoningEffort: 'none', thinking: { budgetTokens: 1 } },
      { thinking: { type: 'adaptive', display: 'summarized' } },
    ],
    [
      'the lowest effort where thinking cannot be off',
      'claude-opus-5-5',
      { reasoningEffort: 'none' },
      { output_config: { effort: 'low' } },
    ],
    ['no thinking unless it is wanted', 'claude-opus-5-5', {}, {}],
  ])('has %s', (_title, model, fields, expected) => {
    expect(build(model, fields)).toEqual(expected);
  });

  const ALL = TOOLS.map(({ name }) => ({ name, description: name, input_schema: { type: 'object' } }));
  const one = { disable_parallel_tool_use: true };

  it.each<[string, Partial<GenerateRequest>, object]>([
    ['claude-haiku-4-5', {}, { tools: ALL }],
    ['claude-haiku-4-5', { toolChoice: 'auto', parallelToolCalls: true }, { tools: ALL }],
    ['claude-haiku-4-5', { parallelToolCalls: false }, { tools: ALL, tool_choice: { type: 'auto', ...one } }],
    [
      'claude-haiku-4-5',
      { toolChoice: 'none', parallelToolCalls: false },
      { tools: ALL, tool_choice: { type: 'none' } },
    ],
    ['claude-haiku-4-5', { toolChoice: 'required' }, { tools: ALL, tool_choice: { type: 'any' } }],
    [
      'claude-haiku-4-5',
      { toolChoice: 'required', parallelToolCalls: false },
      { tools: ALL, tool_choice: { type: 'any', ...one } },
    ],
    [
      'claude-opus-5-5',
      { toolChoice: { name: 'g' }, parallelToolCalls: false },
      { tools: ALL.slice(1), tool_choice: { type: 'auto', ...one } },
    ],
    [
      'claude-haiku-4-5',
      { toolChoice: { name: 'g' } },
      { tools: ALL, tool_choice: { type: 'tool', name: 'g' } },
    ],
    [
      'claude-haiku-4-5',
      { toolChoice: { name: 'g' }, parallelToolCalls: false },
      { tools: ALL, tool_choice: { type: 'tool', name: 'g', ...one } },
    ],
    ['claude-opus-5-5', { toolChoice: 'required' }, { tools: ALL }],
    [
      'claude-opus-5-5',
      { toolChoice: { name: 'g' } },
      { tools: ALL.slice(1), tool_choice: { type: 'auto' } },
    ],
    [
      'claude-haiku-4-5',
      { toolChoice: { name: 'g' }, thinking: { budgetTokens: 2000 } },
      {
        tools: ALL.slice(1),
        tool_choice: { type: 'auto' },
        thinking: { type: 'enabled', budget_tokens: 2000 },
      },
    ],
  ])('offers tools to %s: %j', (model, fields, expected) => {
    expect(build(model, { tools: TOOLS, ...fields })).toEqual(expected);
  });

  it('defines each tool of the history once, without another choice', () => {
    const use = { type: 'tool_use', id: 'c', name: 'f', input: 'no object' } as const;
    const result = {
      type: 'tool_result',
      toolUseId: 'c',
      toolName: 'g',
      content: 'x',
      isError: false,
    } as const;
    const messages = [
      ...HELLO.messages,
      { role: 'assistant', content: [text('a'), use, use] },
      { role: 'user', content: [result] },
    ] as const;
    const body = build('claude-haiku-4-5', { messages, toolChoice: 'required' });
    expect(body).toEqual({
      tools: ['f', 'g'].map((name) => ({
        name,
        description: 'No longer available.',
        input_schema: { type: 'object' },
      })),
      tool_choice: { type: 'none' },
    });
    const sent = messageCall({ ...HELLO, model: 'claude-haiku-4-5', messages }, 'v').body.messages;
    expect(sent).toMatchObject([
      {},
      { content: [{}, { type: 'tool_use', id: 'c', name: 'f', input: {} }, {}] },
      { content: [{ type: 'tool_result', tool_use_id: 'c', content: 'x' }] },
    ]);
  });

  it('drops thoughts of a changed conversation only where the model binds them', () => {
    const thought: ModelContent = {
      type: 'thinking',
      block: { type: 'thinking', thinking: 'a', signature: 's' },
    };
    const messages = [...HELLO.messages, { role: 'assistant' as const, content: [thought, text('a')] }];
    const call = (model: string, fields: Partial<GenerateRequest> = {}) => {
      const { body, dropsThoughts } = messageCall({ ...HELLO, model, messages, ...fields }, 'v');
      return [dropsThoughts, body.thinking];
    };
    const binding = { block_binding: { prefix_mismatch_behavior: 'drop_block' } };
    expect(call('claude-opus-5-5')).toEqual([true, { type: 'adaptive', ...binding }]);
    expect(call('claude-opus-5-5', { thinking: { budgetTokens: 1 } })).toEqual([
      true,
      { type: 'adaptive', display: 'summarized', ...binding },
    ]);
    expect(call('claude-opus-5-5', { messages: HELLO.messages })).toEqual([false, undefined]);
    expect(call('claude-haiku-5-5')).toEqual([false, undefined]);
  });

  it('requests JSON by a schema where the model and the schema allow it, or in words', () => {
    const closed = { type: 'object', properties: { a: {} }, additionalProperties: false };
    const schema = (value: object) => ({
      responseFormat: { type: 'schema' as const, name: 'a', schema: { ...value } },
    });
    const format = { type: 'json_schema', schema: closed };
    expect(build('claude-haiku-5-5', { ...schema(closed), reasoningEffort: 'low' })).toEqual({
      output_config: { effort: 'low', format },
    });
    const words = (model: string, fields: Partial<GenerateRequest>) =>
      JSON.stringify(build(model, fields)).replaceAll('\\', '');
    expect(words('claude-haiku-5-5', schema({ type: 'object' }))).toContain('JSON Schema: {"type":"object"}');
    expect(words('claude-sonnet-4-20250514', schema(closed))).toContain('JSON Schema');
    const { system, ...rest } = build('claude-haiku-5-5', { responseFormat: { type: 'json' } });
    expect([rest, system]).toEqual([
      {},
      [{ type: 'text', text: expect.stringContaining('one JSON object') }],
    ]);
  });
});
