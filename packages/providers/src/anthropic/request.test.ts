import type { GenerateRequest, ModelContent } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { readAnthropicError } from './errors.ts';
import { getFamily } from './families.ts';
import { messageCall } from './request.ts';
import { closedSchema } from './schemas.ts';

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
});

describe('content for Anthropic', () => {
  const pdf = { type: 'document', mediaType: 'application/pdf', data: 'cGRm', name: 'a.pdf' } as const;
  const result = (isError: boolean): ModelContent => ({
    type: 'tool_result',
    toolUseId: 'c:1',
    toolName: 'f',
    content: 'seen',
    isError,
  });
  const thought = (block: object): ModelContent => ({
    type: 'thinking',
    block: { type: 'thinking', thinking: 'hm', signature: 's', ...block },
  });
  const send = (...messages: GenerateRequest['messages']) =>
    messageCall({ model: 'claude-haiku-4-5', maxTokens: 100, messages }, 'v').body;
  const HI = { role: 'user', content: [text('Hi')] } as const;

  it('has the model, the cap and the system text', () => {
    expect(send({ role: 'system', content: [text('Be brief.')] }, HI)).toEqual({
      model: 'claude-haiku-4-5',
      max_tokens: 100,
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
      stream: true,
    });
  });

  it.each<[string, ModelContent[], object[]]>([
    ['no empty text', [text(''), text('a')], [{ type: 'text', text: 'a' }]],
    [
      'images',
      [{ type: 'image', mediaType: 'image/png', data: 'aW1n' }],
      [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aW1n' } }],
    ],
    [
      'documents',
      [pdf, { ...pdf, mediaType: 'text/csv', data: 'YTti', name: 'a.csv' }],
      [
        {
          type: 'document',
          source: { type: 'base64', media_type: 'application/pdf', data: 'cGRm' },
          title: 'a.pdf',
        },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a;b' }, title: 'a.csv' },
      ],
    ],
    [
      'results before the rest',
      [text('a'), result(false), result(true)],
      [
        { type: 'tool_result', tool_use_id: 'c_1', content: 'seen' },
        { type: 'tool_result', tool_use_id: 'c_1', content: 'seen', is_error: true },
        { type: 'text', text: 'a' },
      ],
    ],
  ])('has %s of the user', (_title, content, expected) => {
    expect(send({ role: 'user', content }).messages).toEqual([{ role: 'user', content: expected }]);
  });

  it('has thoughts of the vendor, and inputs that are objects', () => {
    const use = (input: unknown): ModelContent => ({ type: 'tool_use', id: 'c:1', name: 'f', input });
    const content = [
      thought({}),
      thought({ type: 'redacted_thinking', data: 'x' }),
      thought({ signature: 7 }),
      thought({ type: 'redacted_thinking', data: 7 }),
      thought({ type: 'other', data: 'x' }),
      use({ a: 1 }),
      use(null),
    ];
    const call = { type: 'tool_use', id: 'c_1', name: 'f' };
    expect(send(HI, { role: 'assistant', content }).messages).toMatchObject([
      {},
      {
        content: [
          { type: 'thinking', thinking: 'hm', signature: 's' },
          { type: 'redacted_thinking', data: 'x' },
          { ...call, input: { a: 1 } },
          { ...call, input: {} },
        ],
      },
    ]);
  });

  it('has no message without content', () => {
    expect(send(HI, { role: 'assistant', content: [text('')] }).messages).toHaveLength(1);
  });

  it.each<[GenerateRequest['messages'][number], string]>([
    [{ role: 'user', content: [{ ...pdf, mediaType: 'a/b' }] }, 'a document of type a/b'],
    [{ role: 'user', content: [thought({})] }, 'thinking in a user message'],
    [{ role: 'assistant', content: [pdf] }, 'document in an assistant message'],
  ])('never has %j', (message, words) => {
    expect(() => send(HI, message)).toThrow(
      expect.objectContaining({ kind: 'invalid_request', message: `v: cannot take ${words}` }),
    );
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

  it('has the marks of the cache at the end of their message', () => {
    const long = (mark: string) => text(mark.padEnd(5000, '.'));
    const marked = {
      role: 'user',
      content: [text('x'), long('a'), text('')],
      cacheBreakpoint: true,
    } as const;
    const { messages } = send(marked, { role: 'user', content: [long('b')] });
    const [{ content } = { content: [] }] = messages as { content: { cache_control?: unknown }[] }[];
    expect(content.map(({ cache_control }) => cache_control !== undefined)).toEqual([false, true, false]);
  });
});

describe('schema for Anthropic', () => {
  it.each([
    [
      { type: 'string', minLength: 1, maxLength: 2 },
      { type: 'string', description: '(minLength: 1, maxLength: 2)' },
    ],
    [
      { type: 'object', properties: { minimum: { type: 'number', minimum: 0, description: 'M' } } },
      {
        type: 'object',
        properties: { minimum: { type: 'number', description: 'M\n(minimum: 0)' } },
        additionalProperties: false,
      },
    ],
    [
      { properties: {}, additionalProperties: false, required: [], enum: [{ minimum: 1 }] },
      { properties: {}, additionalProperties: false, required: [], enum: [{ minimum: 1 }] },
    ],
    [
      { type: 'array', items: { type: 'object', properties: { a: {} } }, default: [{ pattern: 'x' }] },
      {
        type: 'array',
        items: { type: 'object', properties: { a: {} }, additionalProperties: false },
        default: [{ pattern: 'x' }],
      },
    ],
    [
      { type: 'string', title: null },
      { type: 'string', title: null },
    ],
    [{ oneOf: [{ type: 'string' }, { type: 'null' }] }, { anyOf: [{ type: 'string' }, { type: 'null' }] }],
  ])('is closed, with rules in words that the vendor refuses: %j', (schema, expected) => {
    expect(closedSchema(schema)).toEqual(expected);
  });

  it.each([
    { type: 'object' },
    { type: 'object', properties: {}, additionalProperties: true },
    { properties: { a: { type: 'object' } } },
    { $ref: '#/$defs/a' },
    { properties: { a: { $ref: '#' } } },
    { type: 'object', properties: {}, patternProperties: {} },
    { anyOf: [{ type: 'string' }, { type: 'object' }] },
  ])('is absent for free keys and references: %j', (schema) => {
    expect(closedSchema(schema)).toBeUndefined();
  });

  it('may name what it does not refer to', () => {
    expect(closedSchema({ properties: { $ref: { type: 'string' } }, enum: [{ $ref: 'a' }] })).toBeDefined();
  });
});

describe('error of Anthropic', () => {
  const read = (type: string, message?: string) =>
    readAnthropicError({ type: 'error', error: { type, message } });

  it.each([
    ['authentication_error', 'rejected_key'],
    ['permission_error', 'rejected_key'],
    ['billing_error', 'rejected_key'],
    ['rate_limit_error', 'overloaded'],
    ['overloaded_error', 'overloaded'],
    ['timeout_error', 'timeout'],
    ['invalid_request_error', 'invalid_request'],
    ['not_found_error', 'invalid_request'],
    ['request_too_large', 'invalid_request'],
    ['api_error', 'failed'],
    ['something_new', undefined],
  ])('has a kind by its type %s', (type, kind) => {
    expect(read(type)).toEqual({ message: undefined, kind, code: type });
  });

  it.each([
    ['Prompt is too long', 'context_length'],
    ['exceeds the context', 'context_length'],
    ['exceed context', 'context_length'],
    ['context window', 'context_length'],
    ['too many tokens', 'context_length'],
    ['Your credit balance is too low', 'rejected_key'],
    ['Output blocked by content filtering policy', 'content_blocked'],
    ['our usage policy', 'content_blocked'],
  ])('has a kind by the words of a bad request: %s', (message, kind) => {
    expect(read('invalid_request_error', message)).toMatchObject({ kind, message });
    expect(read('api_error', message).kind).toBe('failed');
  });
});
