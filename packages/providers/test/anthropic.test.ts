import type { GenerateRequest, ModelInfo, ModelPart } from '@questline/core/ports';
import { createAnthropicProvider } from '@questline/providers/anthropic';
import {
  anthropicStream,
  createAnthropicUpstream,
  type Script,
  type ScriptSource,
} from '@questline/testing/upstreams';
import { describe, expect, it } from 'vitest';
import { answer, failure, hello } from './collect.ts';
import { connect } from './set-up.ts';
import { cutEverywhere, truncateEverywhere } from './walk.ts';

const anthropic = (script: ScriptSource = {}) =>
  connect(createAnthropicUpstream, createAnthropicProvider, script, {});

const rich: Script = {
  steps: [
    { thinking: 'Hm, naïve…', signature: 'EqQB/+==' },
    { redacted: 'EmwKAhgB' },
    { text: 'Grüße, ' },
    { text: '世界! 👩‍🚀' },
    { tool: 'weather', id: 'toolu_1', arguments: ['{"ci', 'ty":"Zü', 'rich"}'] },
    { tool: 'time', id: 'toolu_2', arguments: [] },
  ],
  usage: { input: 20, cachedInput: 1000, cacheWrite: 300, output: 30, reasoning: 7 },
};

const richParts: ModelPart[] = [
  { type: 'usage', usage: { input: 20, cachedInput: 1000, cacheWrite: 300, output: 1, reasoning: 0 } },
  { type: 'thinking_delta', text: 'Hm, naïve…' },
  { type: 'thinking', block: { type: 'thinking', thinking: 'Hm, naïve…', signature: 'EqQB/+==' } },
  { type: 'thinking', block: { type: 'redacted_thinking', data: 'EmwKAhgB' } },
  { type: 'text', text: 'Grüße, ' },
  { type: 'text', text: '世界! 👩‍🚀' },
  { type: 'tool_use_delta', index: 0, id: 'toolu_1', name: 'weather', arguments: '' },
  { type: 'tool_use_delta', index: 0, arguments: '{"ci' },
  { type: 'tool_use_delta', index: 0, arguments: 'ty":"Zü' },
  { type: 'tool_use_delta', index: 0, arguments: 'rich"}' },
  { type: 'tool_use', id: 'toolu_1', name: 'weather', arguments: '{"city":"Zürich"}' },
  { type: 'tool_use_delta', index: 1, id: 'toolu_2', name: 'time', arguments: '' },
  { type: 'tool_use', id: 'toolu_2', name: 'time', arguments: '{}' },
  { type: 'usage', usage: { input: 20, cachedInput: 1000, cacheWrite: 300, output: 30, reasoning: 7 } },
  { type: 'finish', reason: 'tool_use', model: 'claude-test' },
];

const walk = async () => ({
  ...(await anthropic()),
  script: rich,
  length: anthropicStream(rich).length,
  parts: richParts,
});

describe('stream of Anthropic', () => {
  it('is converted to parts', async () => {
    const { provider } = await anthropic(rich);
    expect(await answer(provider)).toEqual(richParts);
  });

  it('is read equally at any split of the bytes', async () => {
    await cutEverywhere(await walk());
  });

  it.each(['end', 'disconnect'] as const)('fails when it is truncated by %s', async (by) => {
    await truncateEverywhere(await walk(), by);
  });

  it.each([
    ['stop', 'stop'],
    ['max_tokens', 'max_tokens'],
    ['content_filter', 'content_filter'],
    ['other', 'other'],
  ] as const)('ends with the reason %s', async (finish, reason) => {
    const { provider } = await anthropic({ steps: [{ text: 'a' }], finish });
    expect((await answer(provider)).at(-1)).toEqual({ type: 'finish', reason, model: 'claude-test' });
  });

  it('drops the tool call that the cap cut off, and fails for any other broken call', async () => {
    const steps = [{ tool: 'two', id: 'b', arguments: ['{"x":'] }];
    const { provider, upstream } = await anthropic({ steps, finish: 'max_tokens' });
    expect((await answer(provider)).map((part) => part.type)).toEqual([
      'usage',
      'tool_use_delta',
      'tool_use_delta',
      'usage',
      'finish',
    ]);
    upstream.use({ steps });
    expect((await failure(answer(provider))).kind).toBe('malformed_answer');
  });
});

describe('request to Anthropic', () => {
  const request: GenerateRequest = {
    model: 'claude-haiku-4-5',
    maxTokens: 5000,
    temperature: 1.5,
    tools: [{ name: 'look', description: 'Looks', parameters: { type: 'object', properties: {} } }],
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'text', text: '' },
          { type: 'image', mediaType: 'image/png', data: 'aWJhc2U2NA==' },
          { type: 'document', mediaType: 'application/pdf', data: 'cGRm', name: 'a.pdf' },
          {
            type: 'document',
            mediaType: 'text/csv',
            data: Buffer.from('a;b').toString('base64'),
            name: 'a.csv',
          },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', block: { type: 'thinking', thinking: 'I look.', signature: 'sig' } },
          { type: 'thinking', block: { type: 'redacted_thinking', data: 'xyz' } },
          { type: 'thinking', block: { type: 'reasoning_content', text: 'of another vendor' } },
          { type: 'thinking', block: { type: 'thinking', thinking: 'unsigned' } },
          { type: 'tool_use', id: 'call:1', name: 'look', input: { at: 'it' } },
        ],
      },
      { role: 'system', content: [{ type: 'text', text: 'Still brief.' }] },
      { role: 'user', content: [{ type: 'text', text: 'And?' }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', toolUseId: 'call:1', toolName: 'look', content: 'broken', isError: true },
        ],
      },
    ],
  };

  it('contains messages, tools, media and thoughts', async () => {
    // This model does not cache prompts this short, so the prompt would not be marked.
    const models = (listed: readonly ModelInfo[]) =>
      listed.map((model) => ({ ...model, minCacheTokens: 1024 }));
    const { provider, upstream } = await connect(
      createAnthropicUpstream,
      createAnthropicProvider,
      {},
      { models },
    );
    await answer(provider, request);
    const [received] = upstream.requests;
    expect(received?.path).toBe('/v1/messages');
    expect(received?.headers).toMatchObject({
      'x-api-key': 'sk-platform-secret',
      'anthropic-version': '2023-06-01',
      'content-type': 'application/json',
    });
    expect(received?.headers).not.toHaveProperty('anthropic-beta');
    expect(received?.body).toEqual({
      model: 'claude-haiku-4-5',
      max_tokens: 5000,
      temperature: 1,
      stream: true,
      system: [
        { type: 'text', text: 'Be brief.' },
        { type: 'text', text: 'Still brief.' },
      ],
      tools: [{ name: 'look', description: 'Looks', input_schema: { type: 'object', properties: {} } }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aWJhc2U2NA==' } },
            {
              type: 'document',
              source: { type: 'base64', media_type: 'application/pdf', data: 'cGRm' },
              title: 'a.pdf',
            },
            {
              type: 'document',
              source: { type: 'text', media_type: 'text/plain', data: 'a;b' },
              title: 'a.csv',
              cache_control: { type: 'ephemeral' },
            },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'I look.', signature: 'sig' },
            { type: 'redacted_thinking', data: 'xyz' },
            { type: 'tool_use', id: 'call_1', name: 'look', input: { at: 'it' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'call_1', content: 'broken', is_error: true },
            { type: 'text', text: 'And?', cache_control: { type: 'ephemeral' } },
          ],
        },
      ],
    });
  });

  it('returns thoughts unchanged', async () => {
    const { provider, upstream } = await anthropic(rich);
    const blocks = (await answer(provider)).filter((part) => part.type === 'thinking');
    await answer(provider, {
      ...hello,
      messages: [...hello.messages, { role: 'assistant', content: blocks }, ...hello.messages],
    });
    expect(upstream.requests[1]?.body).toMatchObject({
      messages: [{}, { role: 'assistant', content: blocks.map(({ block }) => block) }, {}],
    });
  });

  it.each([
    // A budget that leaves tokens for the answer, and excludes a temperature.
    ['claude-haiku-4-5', 5000, { thinking: { type: 'enabled', budget_tokens: 4000 } }],
    [
      'claude-opus-4-5-20251101',
      9000,
      { thinking: { type: 'enabled', budget_tokens: 8000 }, output_config: { effort: 'medium' } },
    ],
    // The cap is too small for thinking.
    ['claude-haiku-4-5', 1024, { temperature: 0.3 }],
    // An effort in place of a budget.
    [
      'claude-sonnet-5-5',
      9000,
      { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'medium' } },
    ],
    [
      'claude-opus-4-6',
      9000,
      {
        thinking: { type: 'adaptive', display: 'summarized' },
        output_config: { effort: 'medium' },
        temperature: 0.3,
      },
    ],
  ])('requests thinking from %s within %i tokens in its own format', async (model, maxTokens, expected) => {
    const { provider, upstream } = await anthropic();
    await answer(provider, {
      ...hello,
      model,
      maxTokens,
      temperature: 0.3,
      thinking: { budgetTokens: 8000 },
    });
    const { messages: _, ...body } = (await upstream.request(0)).body as Record<string, unknown>;
    expect(body).toEqual({ model, max_tokens: maxTokens, stream: true, ...expected });
  });

  it('lets models with bound thoughts drop them when the conversation changed', async () => {
    const { provider, upstream } = await anthropic();
    await answer(provider, { ...request, model: 'claude-opus-5-5' });
    expect(upstream.requests[0]?.headers['anthropic-beta']).toBe('thinking-binding-controls-2026-08-01');
    expect(upstream.requests[0]?.body).toMatchObject({
      thinking: { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } },
    });
  });

  it('requests JSON by schema if the model supports it, else by instruction', async () => {
    const { provider, upstream } = await anthropic();
    const schema = {
      type: 'object',
      properties: {
        a: { type: 'integer', minimum: 1, description: 'A' },
        b: { oneOf: [{ type: 'string' }] },
      },
      required: ['a'],
    };
    const free = { type: 'object', additionalProperties: { type: 'string' } };
    const ask = (model: string, asked: Record<string, unknown>) =>
      answer(provider, { ...hello, model, responseFormat: { type: 'schema', name: 'x', schema: asked } });
    await ask('claude-sonnet-5-5', schema);
    await ask('claude-sonnet-5-5', free);
    await ask('claude-sonnet-4-20250514', schema);
    await answer(provider, { ...hello, model: 'claude-sonnet-5-5', responseFormat: { type: 'json' } });
    const [native, ...spoken] = upstream.requests.map((one) => one.body as Record<string, unknown>);
    expect(native?.output_config).toEqual({
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: {
            a: { type: 'integer', description: 'A\n(minimum: 1)' },
            b: { anyOf: [{ type: 'string' }] },
          },
          required: ['a'],
          additionalProperties: false,
        },
      },
    });
    expect(native).not.toHaveProperty('system');
    for (const body of spoken) {
      expect(body).not.toHaveProperty('output_config');
      expect(JSON.stringify(body.system)).toContain('JSON');
    }
    expect(JSON.stringify(spoken[0]?.system)).toContain('additionalProperties');
  });

  it.each([
    { role: 'user', content: [{ type: 'document', mediaType: 'application/zip', data: '', name: 'a' }] },
    { role: 'user', content: [{ type: 'tool_use', id: 'a', name: 'b', input: {} }] },
    { role: 'assistant', content: [{ type: 'image', mediaType: 'image/png', data: '' }] },
    { role: 'system', content: [{ type: 'image', mediaType: 'image/png', data: '' }] },
  ] as const)('rejects unsupported content: %o', async (message) => {
    const { provider, upstream } = await anthropic();
    expect((await failure(answer(provider, { ...hello, messages: [message] }))).kind).toBe('invalid_request');
    expect(upstream.requests).toHaveLength(0);
  });
});

describe('errors of Anthropic', () => {
  const body = (type: string, message = 'Oh') => ({ type: 'error', error: { type, message } });

  it.each([
    [401, body('authentication_error', 'invalid x-api-key'), 'rejected_key'],
    [403, body('permission_error'), 'rejected_key'],
    [400, body('invalid_request_error'), 'invalid_request'],
    [
      400,
      body('invalid_request_error', 'prompt is too long: 208310 tokens > 200000 maximum'),
      'context_length',
    ],
    [
      400,
      body('invalid_request_error', 'input length and `max_tokens` exceed context limit: 199 + 20 > 200'),
      'context_length',
    ],
    [400, body('invalid_request_error', 'Your credit balance is too low to access the API.'), 'rejected_key'],
    [400, body('invalid_request_error', 'Output blocked by content filtering policy'), 'content_blocked'],
    [413, body('request_too_large'), 'invalid_request'],
    [429, body('rate_limit_error'), 'overloaded'],
    [500, body('api_error'), 'failed'],
    [529, body('overloaded_error'), 'overloaded'],
  ])('maps %i to %o', async (status, answered, kind) => {
    const { provider } = await anthropic({
      refusal: { status, body: answered, headers: { 'retry-after': '3' } },
    });
    const error = await failure(answer(provider));
    expect(error.kind).toBe(kind);
    expect(error.retryAfterMs).toBe(kind === 'overloaded' ? 3000 : undefined);
  });

  it.each([
    ['overloaded_error', 'overloaded'],
    ['api_error', 'failed'],
    ['something_new', 'failed'],
  ])('maps %s in the middle of a stream', async (code, kind) => {
    const { provider } = await anthropic({ steps: [{ text: 'a' }, { error: 'Overloaded', code }] });
    expect((await failure(answer(provider))).kind).toBe(kind);
  });
});
