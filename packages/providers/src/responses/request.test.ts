import type { GenerateRequest, ModelContent, ModelMessage } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createResponseBody, type ResponseDialect } from './request.ts';

const DIALECT: ResponseDialect = {
  provider: 'vendor',
  reasons: () => false,
  getEffortLevels: () => undefined,
  takesSampling: () => true,
  hasSeed: false,
  minOutputTokens: 16,
  files: false,
};
const REASONING: Partial<ResponseDialect> = { reasons: () => true };
const text = (value: string): ModelContent => ({ type: 'text', text: value });
const HELLO: GenerateRequest = {
  model: 'm',
  maxTokens: 100,
  messages: [{ role: 'user', content: [text('Hi')] }],
};
const PLAIN = {
  model: 'm',
  input: [{ role: 'user', content: 'Hi' }],
  store: false,
  max_output_tokens: 100,
  stream: true,
};
const TOOLS = [{ name: 'f', description: 'F', parameters: { type: 'object' } }];
const SENT_TOOLS = [{ type: 'function', ...TOOLS[0], strict: false }];
const CLOSED = { type: 'object', properties: { a: {} }, required: ['a'], additionalProperties: false };
const toSchema = (name: string, strict?: boolean) => ({
  responseFormat: { type: 'schema' as const, name, schema: CLOSED, ...(strict !== undefined && { strict }) },
});
const formatOf = (name: string, strict = true) => ({
  text: { format: { type: 'json_schema', name, schema: CLOSED, strict } },
});
const include = ['reasoning.encrypted_content'];
const build = (
  fields: Partial<GenerateRequest>,
  dialect: Partial<ResponseDialect> = {},
  withReasoning = true,
) => createResponseBody({ ...HELLO, ...fields }, { ...DIALECT, ...dialect }, { withReasoning });

/** The title, the fields of the request, the dialect, and the fields of the body beside the plain ones. */
const FIELDS: readonly [string, Partial<GenerateRequest>, Partial<ResponseDialect>, object][] = [
  ['nothing more', {}, {}, {}],
  ['a cap of at least the minimum', { maxTokens: 3 }, {}, { max_output_tokens: 16 }],
  ['sampling', { temperature: 0, topP: 0.5 }, {}, { temperature: 0, top_p: 0.5 }],
  ['no sampling where it is refused', { temperature: 0, topP: 0.5 }, { takesSampling: () => false }, {}],
  ['no top_k and no seed', { topK: 5, seed: 0 }, {}, {}],
  ['top_k and seed where they are fields', { topK: 5, seed: 0 }, { hasSeed: true }, { top_k: 5, seed: 0 }],
  ['no choice without tools', { toolChoice: 'auto', parallelToolCalls: true }, {}, {}],
  ['tools', { tools: TOOLS }, {}, { tools: SENT_TOOLS }],
  [
    'a choice of one tool',
    { tools: TOOLS, toolChoice: { name: 'f' }, parallelToolCalls: false },
    {},
    { tools: SENT_TOOLS, tool_choice: { type: 'function', name: 'f' }, parallel_tool_calls: false },
  ],
  ['no effort where it is refused', { reasoningEffort: 'low', thinking: { budgetTokens: 5 } }, {}, {}],
  ['the reasoning encrypted', {}, REASONING, { include }],
  ['an effort', { reasoningEffort: 'low' }, REASONING, { include, reasoning: { effort: 'low' } }],
  [
    'the nearest effort of the model',
    { reasoningEffort: 'xhigh' },
    { ...REASONING, getEffortLevels: () => ['low', 'high'] },
    { include, reasoning: { effort: 'high' } },
  ],
  [
    'a summary for thinking',
    { thinking: { budgetTokens: 5 } },
    REASONING,
    { include, reasoning: { effort: 'low', summary: 'auto' } },
  ],
  [
    'no summary without reasoning',
    { thinking: { budgetTokens: 5 }, reasoningEffort: 'none' },
    REASONING,
    { include, reasoning: { effort: 'none' } },
  ],
  ['a cache key', { promptCache: { mode: 'auto', key: 'k' } }, {}, { prompt_cache_key: 'k' }],
  ['no cache key when the cache is off', { promptCache: { mode: 'off', key: 'k' } }, {}, {}],
  ['no cache key without one', { promptCache: { mode: 'auto' } }, {}, {}],
  ['a schema under a name that the protocol takes', toSchema('An answer!'), {}, formatOf('An_answer_')],
  ['a schema under a short name', toSchema('a'.repeat(70)), {}, formatOf('a'.repeat(64))],
  ['a schema under a name of its own', toSchema(''), {}, formatOf('answer')],
  ['a schema that is not strict', toSchema('a', false), {}, formatOf('a', false)],
];

describe('request for a response', () => {
  it.each(FIELDS)('has %s', (_title, fields, dialect, expected) => {
    expect(build(fields, dialect)).toEqual({ ...PLAIN, ...expected });
  });

  it('asks for JSON in words if no message does', () => {
    const responseFormat = { type: 'json' } as const;
    expect(build({ responseFormat })).toEqual({
      ...PLAIN,
      input: [{ role: 'system', content: 'Answer with one JSON object.' }, ...PLAIN.input],
      text: { format: { type: 'json_object' } },
    });
    const content = [text('As json'), text('please')];
    expect(build({ responseFormat, messages: [{ role: 'user', content }] }).input).toHaveLength(1);
    const messages = [...HELLO.messages, { role: 'user' as const, content }];
    expect(build({ responseFormat, messages }).input).toHaveLength(2);
  });
});

describe('items for a response', () => {
  const user = (...content: ModelContent[]): ModelMessage => ({ role: 'user', content });
  const assistant = (...content: ModelContent[]): ModelMessage => ({ role: 'assistant', content });
  const image: ModelContent = { type: 'image', mediaType: 'image/png', data: 'aW1n' };
  const pdf: ModelContent = { type: 'document', mediaType: 'application/pdf', data: 'cGRm', name: 'a.pdf' };
  const use = (id: string, input: unknown = {}): ModelContent => ({ type: 'tool_use', id, name: 'f', input });
  const result = (toolUseId: string, isError = false): ModelContent => ({
    type: 'tool_result',
    toolUseId,
    toolName: 'f',
    content: 'seen',
    isError,
  });
  const item = { type: 'reasoning', encrypted_content: 'x' };
  const thought = (block: object = {}): ModelContent => ({
    type: 'thinking',
    block: { type: 'responses_reasoning', provider: 'vendor', item, ...block },
  });
  const said = { role: 'assistant', content: 'a' };

  it.each<[string, ModelMessage, Partial<ResponseDialect>, object[]]>([
    [
      'system texts as one',
      { role: 'system', content: [text('a'), text('b')] },
      {},
      [{ role: 'system', content: 'a\n\nb' }],
    ],
    [
      'results before the rest',
      user(image, result('c', true)),
      {},
      [
        { type: 'function_call_output', call_id: 'c', output: 'Error: seen' },
        {
          role: 'user',
          content: [{ type: 'input_image', image_url: 'data:image/png;base64,aW1n', detail: 'auto' }],
        },
      ],
    ],
    [
      'results alone',
      user(result('c')),
      {},
      [{ type: 'function_call_output', call_id: 'c', output: 'seen' }],
    ],
    [
      'several texts as parts',
      user(text('a'), text('b')),
      {},
      [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'a' },
            { type: 'input_text', text: 'b' },
          ],
        },
      ],
    ],
    [
      'a PDF where files are taken',
      user(pdf),
      { files: true },
      [
        {
          role: 'user',
          content: [{ type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,cGRm' }],
        },
      ],
    ],
    [
      'a document of text as text',
      user({ type: 'document', mediaType: 'text/plain', data: 'Tm90ZQ==', name: 'a.txt' }, image),
      {},
      [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'a.txt:\n\nNote' },
            { type: 'input_image', image_url: 'data:image/png;base64,aW1n', detail: 'auto' },
          ],
        },
      ],
    ],
    ['no empty text of an answer', assistant(text(''), text('a')), {}, [said]],
    [
      'calls without input',
      assistant(use('c', null)),
      {},
      [{ type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }],
    ],
    [
      'the input of calls',
      assistant(use('c', { a: 1 })),
      {},
      [{ type: 'function_call', call_id: 'c', name: 'f', arguments: '{"a":1}' }],
    ],
    [
      'ids of 64 characters',
      user(result('x'.repeat(64))),
      {},
      [{ type: 'function_call_output', call_id: 'x'.repeat(64), output: 'seen' }],
    ],
    [
      'reasoning before what it led to, once',
      assistant(thought(), text('a'), text('a')),
      {},
      [item, said, said],
    ],
    ['no reasoning that led to nothing', assistant(text('a'), thought()), {}, [said]],
    [
      'no reasoning of others',
      assistant(thought({ provider: 'other' }), thought({ type: 'other' }), text('a')),
      {},
      [said],
    ],
    [
      'no reasoning without its content',
      assistant(
        thought({ item: { ...item, encrypted_content: '' } }),
        thought({ item: { ...item, type: 'x' } }),
        text('a'),
      ),
      {},
      [said],
    ],
  ])('contain %s', (_title, message, dialect, expected) => {
    expect(build({ messages: [message] }, dialect).input).toEqual(expected);
  });

  it('contain a short id for a long one, the same for a call and its result', () => {
    const ids = ['x'.repeat(65), 'y'.repeat(65)].map((id) => {
      const input = build({ messages: [assistant(use(id)), user(result(id))] }).input as {
        call_id: string;
      }[];
      expect(input[0]?.call_id).toBe(input[1]?.call_id);
      return input[0]?.call_id;
    });
    for (const id of ids) expect(id).toMatch(/^call_[0-9a-f]{40}$/);
    expect(new Set(ids).size).toBe(2);
  });

  it('contain no reasoning when it cannot be decrypted', () => {
    expect(build({ messages: [assistant(thought(), text('a'))] }, {}, false).input).toEqual([said]);
  });

  it.each<[string, ModelMessage, Partial<ResponseDialect>, string]>([
    ['a PDF where no files are taken', user(pdf), {}, 'a document of type application/pdf'],
    ['another document', user({ ...pdf, mediaType: 'a/b' }), { files: true }, 'a document of type a/b'],
    ['a call of a user', user(use('c')), {}, 'tool_use in a user message'],
    ['an image of an assistant', assistant(image), {}, 'image in an assistant message'],
    ['an image of the system', { role: 'system', content: [image] }, {}, 'image in a system message'],
  ])('never contain %s', (_title, message, dialect, words) => {
    expect(() => build({ messages: [message] }, dialect)).toThrow(
      expect.objectContaining({ kind: 'invalid_request', message: `vendor: cannot take ${words}` }),
    );
  });
});
