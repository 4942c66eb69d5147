import type { CatalogueEntry } from '@questline/core/internal';
import type { GenerateRequest } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { type ChatBody, createChatCompletion } from './contract.ts';
import { findIgnored, getCap, refuseUnsupported, toGenerateRequest } from './request.ts';

const BODY = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };
const read = (fields: object): ChatBody => createChatCompletion.input.body.parse({ ...BODY, ...fields });

const info = {
  id: 'm',
  name: 'M',
  type: 'text',
  provider: 'v',
  contextWindow: 100_000,
  maxOutputTokens: 9000,
} as const;

/** A model whose provider ignores the named fields. */
function createEntry(ignored: readonly string[] = []): CatalogueEntry {
  const provider = { ignores: () => ignored } as unknown as CatalogueEntry['provider'];
  return { info, provider, providerModel: 'vendor-m', prices: undefined };
}

const MESSAGES = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] as const;
const convert = (fields: object) =>
  toGenerateRequest(read(fields), MESSAGES, createEntry(), { mode: 'auto', key: 'k' });

const tool = (name: string, more: object = {}) => ({ type: 'function', function: { name, ...more } });
const TOOLS = [tool('f', { description: 'F', parameters: { type: 'object' } }), tool('g')];
const SCHEMAS = [
  { name: 'f', description: 'F', parameters: { type: 'object' } },
  { name: 'g', description: '', parameters: { type: 'object', properties: {} } },
];
const choose = (name: string) => ({ type: 'function', function: { name } });

describe('request of a chat completion', () => {
  it.each<[object, Partial<GenerateRequest>]>([
    [{}, {}],
    [
      { temperature: 0, top_p: 0, seed: 0 },
      { temperature: 0, topP: 0, seed: 0 },
    ],
    [{ temperature: null, top_p: null, seed: null, stop: null, tools: null, tool_choice: null }, {}],
    [{ stop: 'a' }, { stop: ['a'] }],
    [{ stop: ['a', 'b'] }, { stop: ['a', 'b'] }],
    [{ reasoning_effort: 'low' }, { reasoningEffort: 'low' }],
    [{ reasoning_effort: 'max' }, { reasoningEffort: 'xhigh' }],
    [{ reasoning_effort: null }, {}],
    [{ max_tokens: 5 }, { maxTokens: 5 }],
    [{ max_tokens: 5, max_completion_tokens: 6 }, { maxTokens: 6 }],
    [{ max_tokens: 50_000 }, { maxTokens: 9000 }],
    [{ parallel_tool_calls: false }, { parallelToolCalls: false }],
    [{ parallel_tool_calls: null }, {}],
    [{ tools: [] }, {}],
    [
      { tools: TOOLS.slice(0, 1), tool_choice: 'auto' },
      { tools: SCHEMAS.slice(0, 1), toolChoice: 'auto' },
    ],
    [{ tools: TOOLS }, { tools: SCHEMAS }],
    [
      { tools: TOOLS, tool_choice: 'required' },
      { tools: SCHEMAS, toolChoice: 'required' },
    ],
    [
      { tools: TOOLS, tool_choice: choose('g') },
      { tools: SCHEMAS, toolChoice: { name: 'g' } },
    ],
    [{ tool_choice: 'auto' }, {}],
    [{ tool_choice: 'none', tools: [] }, {}],
    [{ response_format: { type: 'text' } }, {}],
    [{ response_format: null }, {}],
    [{ response_format: { type: 'json_object' } }, { responseFormat: { type: 'json' } }],
    [
      { response_format: { type: 'json_schema', json_schema: { name: 'a' } } },
      { responseFormat: { type: 'schema', name: 'a', schema: { type: 'object' } } },
    ],
    [
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'a', schema: { type: 'array' }, strict: false },
        },
      },
      { responseFormat: { type: 'schema', name: 'a', schema: { type: 'array' }, strict: false } },
    ],
  ])('%j is that of a model', (fields, expected) => {
    const { maxTokens, ...request } = convert(fields);
    const { maxTokens: cap = maxTokens, ...more } = expected;
    expect(request).toEqual({
      model: 'vendor-m',
      messages: MESSAGES,
      promptCache: { mode: 'auto', key: 'k' },
      ...more,
    });
    expect(maxTokens).toBe(cap);
  });

  it.each([
    [{ tools: TOOLS, tool_choice: choose('h') }, 'the request offers no tool of this name'],
    [{ tool_choice: choose('f') }, 'the request offers no tool of this name'],
    [{ tool_choice: 'required' }, 'the request offers no tools'],
  ])('%j is refused', (fields, message) => {
    expect(() => convert(fields)).toThrow(
      expect.objectContaining({ status: 400, details: [{ path: 'tool_choice', message }] }),
    );
  });

  it('names its cap, or none', () => {
    expect([{}, { max_tokens: null }, { max_tokens: 5 }].map((fields) => getCap(read(fields)))).toEqual([
      undefined,
      undefined,
      5,
    ]);
  });
});

describe('fields of a chat completion that would change the answer', () => {
  it.each([
    ['n', 2],
    ['logprobs', true],
    ['top_logprobs', 1],
    ['logit_bias', { 5: 1 }],
    ['modalities', ['text', 'audio']],
    ['audio', { voice: 'alloy' }],
    ['web_search_options', { search_context_size: 'low' }],
    ['moderation', { model: 'm' }],
    ['moderation', true],
    ['functions', [{ name: 'f' }]],
    ['function_call', 'none'],
  ])('are refused: %s', (name, value) => {
    expect(() => refuseUnsupported(read({ [name]: value }))).toThrow(
      expect.objectContaining({
        status: 400,
        code: 'unsupported_input',
        details: [expect.objectContaining({ path: name })],
      }),
    );
  });

  it.each([
    { n: 1 },
    { n: null, logprobs: false, top_logprobs: 0, logit_bias: {}, modalities: ['text'], audio: null },
    { logprobs: null, top_logprobs: '1', logit_bias: null, modalities: 'audio', web_search_options: {} },
    { moderation: null, functions: [], function_call: null },
  ])('are accepted with values that change nothing: %j', (fields) => {
    expect(() => refuseUnsupported(read(fields))).not.toThrow();
  });
});

describe('fields of a chat completion without an effect', () => {
  const find = (fields: object, ignored: readonly string[] = []) => {
    const body = read(fields);
    return findIgnored(
      body,
      toGenerateRequest(body, MESSAGES, createEntry(), { mode: 'auto' }),
      createEntry(ignored),
    );
  };

  it('are named unless they are off', () => {
    const names = [
      'frequency_penalty',
      'metadata',
      'prediction',
      'presence_penalty',
      'prompt_cache_key',
      'prompt_cache_options',
      'prompt_cache_retention',
      'safety_identifier',
      'service_tier',
      'store',
      'user',
      'verbosity',
    ];
    const all = (value: unknown) => Object.fromEntries(names.map((name) => [name, value]));
    expect(find(all('x'))).toEqual(names);
    for (const value of [null, 0, false]) expect(find(all(value))).toEqual([]);
  });

  it('are those of the provider by their names here, if the request has them', () => {
    const ignored = ['topP', 'toolChoice', 'parallelToolCalls', 'reasoningEffort', 'responseFormat', 'seed'];
    expect(find({}, ignored)).toEqual([]);
    const fields = {
      top_p: 1,
      tool_choice: 'auto',
      parallel_tool_calls: true,
      reasoning_effort: 'low',
      response_format: { type: 'text' },
      seed: 0,
    };
    expect(find(fields, ignored)).toEqual(Object.keys(fields));
  });
});
