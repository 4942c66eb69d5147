import type { GenerateRequest, ModelContent, ModelMessage } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { type CompletionDialect, completionBody } from './request.ts';

const DIALECT: CompletionDialect = {
  provider: 'vendor',
  getMaxTokensParameter: () => 'max_tokens',
  streamUsage: true,
  takesEffort: () => false,
  getEffortLevels: () => undefined,
  takesSampling: () => true,
  hasTopK: false,
  hasCacheKey: false,
  files: false,
};
const text = (value: string): ModelContent => ({ type: 'text', text: value });
const HELLO: GenerateRequest = {
  model: 'm',
  maxTokens: 100,
  messages: [{ role: 'user', content: [text('Hi')] }],
};
const PLAIN = {
  model: 'm',
  messages: [{ role: 'user', content: 'Hi' }],
  max_tokens: 100,
  stream: true,
  stream_options: { include_usage: true },
};
const PICTURE = { type: 'image_url', image_url: { url: 'data:image/png;base64,aW1n' } };
const LISTED = { type: 'thinking', thinking: [{ type: 'text', text: 'h' }] };
const TOOLS = [{ name: 'f', description: 'F', parameters: { type: 'object' } }];
const CLOSED = { type: 'object', properties: { a: {} }, required: ['a'], additionalProperties: false };
const toSchema = (name: string, strict?: boolean) => ({
  responseFormat: { type: 'schema' as const, name, schema: CLOSED, ...(strict !== undefined && { strict }) },
});
const formatOf = (name: string, strict = true) => ({
  response_format: { type: 'json_schema', json_schema: { name, schema: CLOSED, strict } },
});

/** The title, the fields of the request, the dialect, and the fields of the body beside the plain ones. */
const FIELDS: readonly [string, Partial<GenerateRequest>, Partial<CompletionDialect>, object][] = [
  ['nothing more', {}, {}, {}],
  ['temperature', { temperature: 0 }, {}, { temperature: 0 }],
  ['top_p', { topP: 0.5 }, {}, { top_p: 0.5 }],
  ['no top_k', { topK: 5 }, {}, {}],
  ['top_k where it is a field', { topK: 5 }, { hasTopK: true }, { top_k: 5 }],
  ['at most four stops', { stop: ['a', 'b', 'c', 'd', 'e'] }, {}, { stop: ['a', 'b', 'c', 'd'] }],
  ['no empty stops', { stop: [] }, {}, {}],
  [
    'no sampling where it is refused',
    { temperature: 1, topP: 1, topK: 1, stop: ['a'] },
    { takesSampling: () => false, hasTopK: true },
    {},
  ],
  ['a seed', { seed: 0 }, {}, { seed: 0 }],
  ['no effort', { reasoningEffort: 'low' }, {}, {}],
  [
    'an effort where it is taken',
    { reasoningEffort: 'low' },
    { takesEffort: () => true },
    { reasoning_effort: 'low' },
  ],
  ['no effort without one', {}, { takesEffort: () => true }, {}],
  [
    'the nearest effort of the model',
    { reasoningEffort: 'xhigh' },
    { takesEffort: () => true, getEffortLevels: () => ['low', 'high'] },
    { reasoning_effort: 'high' },
  ],
  ['no cache key', { promptCache: { mode: 'auto', key: 'k' } }, {}, {}],
  [
    'a cache key where it is a field',
    { promptCache: { mode: 'auto', key: 'k' } },
    { hasCacheKey: true },
    { prompt_cache_key: 'k' },
  ],
  [
    'no cache key when the cache is off',
    { promptCache: { mode: 'off', key: 'k' } },
    { hasCacheKey: true },
    {},
  ],
  ['no choice without tools', { toolChoice: 'auto', parallelToolCalls: true }, {}, {}],
  ['tools', { tools: TOOLS }, {}, { tools: [{ type: 'function', function: TOOLS[0] }] }],
  [
    'a choice of tools',
    { tools: TOOLS, toolChoice: 'required', parallelToolCalls: false },
    {},
    {
      tools: [{ type: 'function', function: TOOLS[0] }],
      tool_choice: 'required',
      parallel_tool_calls: false,
    },
  ],
  [
    'a choice of one tool',
    { tools: TOOLS, toolChoice: { name: 'f' } },
    {},
    {
      tools: [{ type: 'function', function: TOOLS[0] }],
      tool_choice: { type: 'function', function: { name: 'f' } },
    },
  ],
  ['a schema under a name that the protocol takes', toSchema('An answer!'), {}, formatOf('An_answer_')],
  ['a schema under a short name', toSchema('a'.repeat(70)), {}, formatOf('a'.repeat(64))],
  ['a schema under a name of its own', toSchema(''), {}, formatOf('answer')],
  ['a schema that is not strict', toSchema('a', false), {}, formatOf('a', false)],
];

describe('request for chat completions', () => {
  it.each(FIELDS)('has %s', (_title, fields, dialect, expected) => {
    expect(completionBody({ ...HELLO, ...fields }, { ...DIALECT, ...dialect })).toEqual({
      ...PLAIN,
      ...expected,
    });
  });

  it('has the cap in the field of the model, and requests usage only where that is known', () => {
    const dialect = {
      ...DIALECT,
      getMaxTokensParameter: () => 'max_completion_tokens' as const,
      streamUsage: false,
    };
    expect(completionBody(HELLO, dialect)).toEqual({
      model: 'm',
      messages: PLAIN.messages,
      max_completion_tokens: 100,
      stream: true,
    });
  });

  it('asks for JSON in words if no message does', () => {
    const format = { responseFormat: { type: 'json' as const } };
    const ask = (...messages: ModelMessage[]) =>
      completionBody({ ...HELLO, ...format, messages }, DIALECT).messages;
    expect(completionBody({ ...HELLO, ...format }, DIALECT).response_format).toEqual({ type: 'json_object' });
    expect(ask(...HELLO.messages)).toEqual([
      { role: 'system', content: 'Answer with one JSON object.' },
      { role: 'user', content: 'Hi' },
    ]);
    expect(ask({ role: 'user', content: [text('As json'), text('please')] })).toHaveLength(1);
    expect(ask(...HELLO.messages, { role: 'user', content: [text('As JSON')] })).toHaveLength(2);
    expect(completionBody({ ...HELLO, ...toSchema('a') }, DIALECT).messages).toHaveLength(1);
  });
});

describe('messages for chat completions', () => {
  const send = (message: ModelMessage, dialect: Partial<CompletionDialect> = {}) =>
    completionBody({ ...HELLO, messages: [message] }, { ...DIALECT, ...dialect }).messages;
  const user = (...content: ModelContent[]): ModelMessage => ({ role: 'user', content });
  const assistant = (...content: ModelContent[]): ModelMessage => ({ role: 'assistant', content });
  const image: ModelContent = { type: 'image', mediaType: 'image/png', data: 'aW1n' };
  const pdf: ModelContent = { type: 'document', mediaType: 'application/pdf', data: 'cGRm', name: 'a.pdf' };
  const use: ModelContent = { type: 'tool_use', id: 'c', name: 'f', input: { a: 1 } };
  const result: ModelContent = {
    type: 'tool_result',
    toolUseId: 'c',
    toolName: 'f',
    content: 'seen',
    isError: false,
  };
  const thought = (block: object): ModelContent => ({
    type: 'thinking',
    block: { type: 'reasoning_content', ...block },
  });
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } };

  it.each<[string, ModelMessage, Partial<CompletionDialect>, object[]]>([
    [
      'system texts as one',
      { role: 'system', content: [text('a'), text('b')] },
      {},
      [{ role: 'system', content: 'a\n\nb' }],
    ],
    [
      'results before the rest',
      user(text('And?'), result),
      {},
      [
        { role: 'tool', tool_call_id: 'c', content: 'seen' },
        { role: 'user', content: 'And?' },
      ],
    ],
    ['results alone', user(result), {}, [{ role: 'tool', tool_call_id: 'c', content: 'seen' }]],
    [
      'results as parts',
      user({ ...result, isError: true }),
      { contentAs: 'parts' },
      [{ role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: 'Error: seen' }] }],
    ],
    ['an image as a part', user(image), {}, [{ role: 'user', content: [PICTURE] }]],
    [
      'a PDF as a file where files are taken',
      user(pdf),
      { files: true },
      [
        {
          role: 'user',
          content: [
            { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,cGRm' } },
          ],
        },
      ],
    ],
    [
      'several texts as parts',
      user(text('a'), text('b')),
      {},
      [{ role: 'user', content: [text('a'), text('b')] }],
    ],
    [
      'a document of text as text',
      user({ type: 'document', mediaType: 'text/plain', data: 'Tm90ZQ==', name: 'a.txt' }, image),
      { contentAs: 'parts' },
      [{ role: 'user', content: [text('a.txt:\n\nNote'), PICTURE] }],
    ],
    ['answers', assistant(text('a'), text('b')), {}, [{ role: 'assistant', content: 'ab' }]],
    ['an empty answer', assistant(), {}, [{ role: 'assistant', content: '' }]],
    [
      'answers as parts',
      assistant(text('a')),
      { contentAs: 'parts' },
      [{ role: 'assistant', content: [{ type: 'text', text: 'a' }] }],
    ],
    ['calls without text', assistant(use), {}, [{ role: 'assistant', content: null, tool_calls: [call] }]],
    [
      'calls without input',
      assistant(text('a'), { ...use, input: undefined }),
      {},
      [
        {
          role: 'assistant',
          content: 'a',
          tool_calls: [{ ...call, function: { name: 'f', arguments: '{}' } }],
        },
      ],
    ],
    [
      'reasoning beside calls, joined by field',
      assistant(
        thought({ text: 'h' }),
        thought({ text: 'm' }),
        thought({ text: 'x', field: 'reasoning' }),
        use,
      ),
      {},
      [{ role: 'assistant', content: null, reasoning_content: 'hm', reasoning: 'x', tool_calls: [call] }],
    ],
    [
      'no reasoning without calls',
      assistant(thought({ text: 'h' }), text('a')),
      {},
      [{ role: 'assistant', content: 'a' }],
    ],
    [
      'no reasoning of others',
      assistant(thought({ type: 'thinking', text: 'h' }), thought({ text: 7 }), text('a'), use),
      {},
      [{ role: 'assistant', content: 'a', tool_calls: [call] }],
    ],
    [
      'reasoning of a list in a list',
      assistant(thought({ text: 'h', field: 'content' })),
      {},
      [{ role: 'assistant', content: [LISTED] }],
    ],
    [
      'reasoning of a list before its text',
      assistant(thought({ text: 'h', field: 'content' }), text('a')),
      {},
      [{ role: 'assistant', content: [LISTED, text('a')] }],
    ],
  ])('contain %s', (_title, message, dialect, expected) => {
    expect(send(message, dialect)).toEqual(expected);
  });

  it.each<[string, ModelMessage, Partial<CompletionDialect>, string]>([
    ['a PDF where no files are taken', user(pdf), {}, 'a document of type application/pdf'],
    [
      'another document',
      user({ ...pdf, mediaType: 'application/msword' }),
      { files: true },
      'a document of type application/msword',
    ],
    ['a call of a user', user(use), {}, 'tool_use in a user message'],
    ['an image of an assistant', assistant(image), {}, 'image in an assistant message'],
    ['an image of the system', { role: 'system', content: [image] }, {}, 'image in a system message'],
    [
      'an image in one text',
      user(text('a'), image),
      { contentAs: 'string' },
      'image_url where content is one text',
    ],
  ])('never contain %s', (_title, message, dialect, words) => {
    expect(() => send(message, dialect)).toThrow(
      expect.objectContaining({ kind: 'invalid_request', message: `vendor: cannot take ${words}` }),
    );
  });
});
