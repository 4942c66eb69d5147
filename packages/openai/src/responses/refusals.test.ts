import type { CatalogueEntry } from '@questline/core/internal';
import type { GenerateRequest } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createResponse } from './contract.ts';
import { findIgnored, isFilled, refuseUnsupported } from './refusals.ts';
import { describeRequest, toIncompleteDetails } from './wire.ts';

const read = (fields: object) => createResponse.input.body.parse({ model: 'm', input: 'Hi', ...fields });

describe('fields of a response that would change the answer', () => {
  it.each<[object, string]>([
    [{ conversation: 'conv_1', previous_response_id: 'resp_1' }, 'previous_response_id'],
    [{ background: true, store: false }, 'background'],
    [{ prompt: { id: 'p' } }, 'prompt'],
    [{ context_management: [{ type: 'compaction' }] }, 'context_management'],
    [{ moderation: { model: 'm' } }, 'moderation'],
    [{ top_logprobs: 1 }, 'top_logprobs'],
    [{ include: ['reasoning.encrypted_content', 'message.output_text.logprobs'] }, 'include.1'],
  ])('are refused: %j', (fields, path) => {
    expect(() => refuseUnsupported(read(fields))).toThrow(
      expect.objectContaining({ status: 400, details: [expect.objectContaining({ path })] }),
    );
  });

  it.each<object>([
    { conversation: null, previous_response_id: 'resp_1' },
    { conversation: 'conv_1', previous_response_id: null },
    { background: true, store: true },
    { background: true },
    { background: false, store: false },
    { prompt: null, context_management: [], moderation: {}, top_logprobs: 0, include: null },
    { prompt: { id: null }, top_logprobs: null, include: ['reasoning.encrypted_content'] },
  ])('are accepted with values that change nothing: %j', (fields) => {
    expect(() => refuseUnsupported(read(fields))).not.toThrow();
  });

  it('are filled unless they are absent, null or empty', () => {
    expect([undefined, null, {}, [], { a: null }, { a: undefined }].map(isFilled)).toEqual(
      Array(6).fill(false),
    );
    expect(['', 0, false, { a: 0 }, [1]].map(isFilled)).toEqual(Array(5).fill(true));
  });
});

describe('fields of a response without an effect', () => {
  const find = (fields: object, request: Partial<GenerateRequest> = {}, ignored: readonly string[] = []) => {
    const provider = { ignores: () => ignored } as unknown as CatalogueEntry['provider'];
    return findIgnored(read(fields), request as GenerateRequest, { provider } as CatalogueEntry);
  };

  it('are named unless they are off', () => {
    const names = [
      'client_metadata',
      'prompt_cache_key',
      'prompt_cache_options',
      'prompt_cache_retention',
      'safety_identifier',
      'service_tier',
      'truncation',
      'user',
    ];
    const all = (value: unknown) => Object.fromEntries(names.map((name) => [name, value]));
    expect(find(all('auto'))).toEqual(names);
    expect(find(all(null))).toEqual([]);
    expect(find({ client_metadata: {}, user: false })).toEqual([]);
  });

  it('are details of the text and of the reasoning that the model does not take', () => {
    expect(find({ text: { verbosity: 'low' } })).toEqual(['text.verbosity']);
    expect(find({ text: {} })).toEqual([]);
    expect(find({ reasoning: { effort: 'low' } })).toEqual(['reasoning']);
    expect(find({ reasoning: { effort: null } })).toEqual([]);
    expect(find({ reasoning: { effort: 'low' } }, { reasoningEffort: 'low' })).toEqual([]);
    expect(find({ reasoning: { effort: 'low' } }, { thinking: { budgetTokens: 1 } })).toEqual([]);
  });

  it('are those of the provider by their names here', () => {
    const ignored = [
      'topP',
      'toolChoice',
      'parallelToolCalls',
      'reasoningEffort',
      'responseFormat',
      'thinking',
      'seed',
    ];
    expect(find({}, {}, ignored)).toEqual([
      'top_p',
      'tool_choice',
      'parallel_tool_calls',
      'reasoning.effort',
      'text.format',
      'seed',
    ]);
  });
});

describe('request in its response', () => {
  const FACTS = { id: 'resp_1', createdAt: 7, model: 'm' };
  const PLAIN = {
    id: 'resp_1',
    object: 'response',
    created_at: 7,
    model: 'm',
    access_programs: null,
    background: false,
    conversation: null,
    instructions: null,
    max_output_tokens: null,
    max_tool_calls: null,
    metadata: {},
    parallel_tool_calls: true,
    previous_response_id: null,
    prompt: null,
    prompt_cache_key: null,
    reasoning: { effort: null, summary: null },
    safety_identifier: null,
    service_tier: 'default',
    store: true,
    temperature: null,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_logprobs: 0,
    top_p: null,
    truncation: 'disabled',
  };

  it.each<[object, object]>([
    [{}, {}],
    [{ background: true, store: null }, { background: true }],
    [{ background: null, store: false }, { store: false }],
    [{ conversation: 'conv_1' }, { conversation: { id: 'conv_1' } }],
    [{ conversation: { id: 'conv_1' } }, { conversation: { id: 'conv_1' } }],
    ...[
      { instructions: 'Be brief.' },
      { max_output_tokens: 100 },
      { max_tool_calls: 3 },
      { metadata: { a: 'b' } },
      { metadata: Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`k${at}`, 'v'])) },
      { parallel_tool_calls: false },
      { previous_response_id: 'resp_0' },
      { prompt_cache_key: 'k' },
      { safety_identifier: 's' },
      { temperature: 0 },
      { top_p: 0 },
      { tool_choice: 'none' },
      { reasoning: { effort: 'low', summary: 'auto' } },
      { text: { format: { type: 'json_object' } } },
      { tools: [{ type: 'web_search' }] },
    ].map((fields): [object, object] => [fields, fields]),
    [{ reasoning: { effort: 'low' } }, { reasoning: { effort: 'low', summary: null } }],
    [{ text: { verbosity: 'low' } }, {}],
    [{ prompt_cache_key: 7 }, {}],
    [
      { tools: [{ type: 'function', name: 'f' }] },
      { tools: [{ type: 'function', name: 'f', parameters: null, strict: null }] },
    ],
    [
      { tools: [{ type: 'function', name: 'f', parameters: { type: 'object' }, strict: true }] },
      { tools: [{ type: 'function', name: 'f', parameters: { type: 'object' }, strict: true }] },
    ],
    [
      { tools: [{ type: 'namespace', name: 'n', tools: [] }] },
      { tools: [{ type: 'namespace', name: 'n', description: '', tools: [] }] },
    ],
  ])('%j is repeated', (fields, expected) => {
    expect(describeRequest(read(fields), FACTS)).toEqual({ ...PLAIN, ...expected });
  });

  it('has the description of a namespace', () => {
    const tool = { type: 'namespace', name: 'n', description: 'N', tools: [] };
    expect(describeRequest(read({ tools: [tool] }), FACTS).tools).toEqual([tool]);
  });

  it('has a reason if the answer is incomplete', () => {
    expect(toIncompleteDetails('max_tokens')).toEqual({ reason: 'max_output_tokens' });
    expect(toIncompleteDetails('content_filter')).toEqual({ reason: 'content_filter' });
    for (const reason of ['stop', 'tool_use', 'other', undefined] as const)
      expect(toIncompleteDetails(reason)).toBeNull();
  });
});
