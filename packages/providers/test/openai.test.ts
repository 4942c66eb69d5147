import type { GenerateRequest, ModelPart } from '@questline/core/ports';
import { createOpenAIProvider } from '@questline/providers/openai';
import { openAIStream, type Script } from '@questline/testing/upstreams';
import { describe, expect, it } from 'vitest';
import { answer, failure, hello } from './collect.ts';
import { never, openAI } from './set-up.ts';
import { cutEverywhere, truncateEverywhere } from './walk.ts';

const rich: Script = {
  steps: [
    { thinking: 'Hm, naïve…' },
    { text: 'Grüße, ' },
    { text: '世界! 👩‍🚀' },
    { tool: 'weather', id: 'call_1', arguments: ['{"ci', 'ty":"Zü', 'rich"}'] },
    { tool: 'time', id: 'call_2', arguments: [] },
  ],
  usage: { input: 20, cachedInput: 1000, output: 30, reasoning: 7 },
};

const richParts: ModelPart[] = [
  { type: 'thinking_delta', text: 'Hm, naïve…' },
  { type: 'text', text: 'Grüße, ' },
  { type: 'text', text: '世界! 👩‍🚀' },
  { type: 'tool_use_delta', index: 0, id: 'call_1', name: 'weather', arguments: '' },
  { type: 'tool_use_delta', index: 0, arguments: '{"ci' },
  { type: 'tool_use_delta', index: 0, arguments: 'ty":"Zü' },
  { type: 'tool_use_delta', index: 0, arguments: 'rich"}' },
  { type: 'tool_use_delta', index: 1, id: 'call_2', name: 'time', arguments: '' },
  { type: 'thinking', block: { type: 'reasoning_content', text: 'Hm, naïve…' } },
  { type: 'tool_use', id: 'call_1', name: 'weather', arguments: '{"city":"Zürich"}' },
  { type: 'tool_use_delta', index: 1, arguments: '{}' },
  { type: 'tool_use', id: 'call_2', name: 'time', arguments: '{}' },
  { type: 'usage', usage: { input: 20, cachedInput: 1000, cacheWrite: 0, output: 30, reasoning: 7 } },
  { type: 'finish', reason: 'tool_use', model: 'gpt-test' },
];

const walk = async () => ({
  ...(await openAI()),
  script: rich,
  length: openAIStream(rich).length,
  parts: richParts,
});

describe('stream of chat completions', () => {
  it('is converted to parts: text, reasoning, complete tool calls, usage, finish reason', async () => {
    const { provider } = await openAI(rich);
    expect(await answer(provider)).toEqual(richParts);
  });

  it('is read equally at any split of the bytes', async () => {
    await cutEverywhere(await walk());
  });

  it.each(['end', 'disconnect'] as const)('fails when it is truncated by %s', async (by) => {
    // Complete without its terminator: usage and reason have arrived, nothing of the answer is missing.
    expect(await truncateEverywhere(await walk(), by)).toBe(by === 'end' ? 8 : 0);
  });

  it.each([
    ['stop', 'stop'],
    ['max_tokens', 'max_tokens'],
    ['content_filter', 'content_filter'],
    ['other', 'other'],
  ] as const)('ends with the reason %s', async (finish, reason) => {
    const { provider } = await openAI({ steps: [{ text: 'a' }], finish });
    expect((await answer(provider)).at(-1)).toEqual({ type: 'finish', reason, model: 'gpt-test' });
  });

  it('drops the tool call that the cap cut off', async () => {
    const { provider } = await openAI({
      steps: [
        { tool: 'one', id: 'a', arguments: ['{}'] },
        { tool: 'two', id: 'b', arguments: ['{"x":'] },
      ],
      finish: 'max_tokens',
    });
    const parts = await answer(provider);
    expect(parts.filter((part) => part.type === 'tool_use')).toEqual([
      { type: 'tool_use', id: 'a', name: 'one', arguments: '{}' },
    ]);
    expect(parts.at(-1)).toEqual({ type: 'finish', reason: 'max_tokens', model: 'gpt-test' });
  });

  it('joins tool calls without indexes and arguments sent as an object', async () => {
    const call = (id: string, name: string, args: unknown) =>
      JSON.stringify({
        choices: [{ delta: { tool_calls: [{ id, function: { name, arguments: args } }] } }],
      });
    const { provider } = await openAI({
      steps: [{ data: call('a', 'one', { x: 1 }) }, { data: call('b', 'two', '{"y":2}') }],
      finish: 'stop',
    });
    const parts = await answer(provider);
    expect(parts.filter(({ type }) => type === 'tool_use' || type === 'finish')).toEqual([
      { type: 'tool_use', id: 'a', name: 'one', arguments: '{"x":1}' },
      { type: 'tool_use', id: 'b', name: 'two', arguments: '{"y":2}' },
      { type: 'finish', reason: 'tool_use', model: 'gpt-test' },
    ]);
  });

  it('delivers everything of one read as one chunk', async () => {
    const texts = Array.from({ length: 50 }, (_, number) => ({ text: `${number} ` }));
    const { provider } = await openAI({ steps: texts });
    let chunks = 0;
    for await (const _chunk of await provider.generate(hello, {})) chunks += 1;
    expect(chunks).toBeLessThan(5);
  });
});

describe('request for chat completions', () => {
  const request: GenerateRequest = {
    model: 'test-model',
    maxTokens: 500,
    temperature: 0.5,
    tools: [{ name: 'look', description: 'Looks', parameters: { type: 'object', properties: {} } }],
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
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
          { type: 'thinking', block: { type: 'reasoning_content', text: 'I look.' } },
          { type: 'thinking', block: { type: 'thinking', thinking: 'of another vendor', signature: 's' } },
          { type: 'tool_use', id: 'call_1', name: 'look', input: { at: 'it' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'And?' },
          { type: 'tool_result', toolUseId: 'call_1', toolName: 'look', content: 'broken', isError: true },
        ],
      },
    ],
  };

  it('contains messages, tools and media', async () => {
    const { provider, upstream } = await openAI();
    await answer(provider, request);
    const [received] = upstream.requests;
    expect(received?.path).toBe('/v1/chat/completions');
    expect(received?.headers).toMatchObject({
      authorization: 'Bearer sk-platform-secret',
      'content-type': 'application/json',
    });
    expect(received?.body).toEqual({
      model: 'test-model',
      max_tokens: 500,
      temperature: 0.5,
      stream: true,
      stream_options: { include_usage: true },
      tools: [
        {
          type: 'function',
          function: { name: 'look', description: 'Looks', parameters: { type: 'object', properties: {} } },
        },
      ],
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,aWJhc2U2NA==' } },
            { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,cGRm' } },
            { type: 'text', text: 'a.csv:\n\na;b' },
          ],
        },
        {
          role: 'assistant',
          content: null,
          reasoning_content: 'I look.',
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":"it"}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'Error: broken' },
        { role: 'user', content: 'And?' },
      ],
    });
  });

  it('rejects an unsupported document', async () => {
    const { provider, upstream } = await openAI();
    const content = [{ type: 'document', mediaType: 'application/msword', data: '', name: 'a.doc' }] as const;
    const error = await failure(answer(provider, { ...hello, messages: [{ role: 'user', content }] }));
    expect(error.kind).toBe('invalid_request');
    expect(upstream.requests).toHaveLength(0);
  });

  it('sends effort instead of temperature to reasoning models', async () => {
    const { provider, upstream } = await openAI({}, { maxTokensField: 'max_completion_tokens' });
    await answer(provider, {
      ...hello,
      model: 'gpt-5',
      temperature: 0.2,
      thinking: { budgetTokens: 20_000 },
    });
    expect(upstream.requests[0]?.body).toMatchObject({
      reasoning_effort: 'high',
      max_completion_tokens: 100,
    });
    expect(upstream.requests[0]?.body).not.toHaveProperty('temperature');
    expect(upstream.requests[0]?.body).not.toHaveProperty('max_tokens');
  });

  it('requests JSON, strictly if the schema allows it', async () => {
    const { provider, upstream } = await openAI();
    const open = { type: 'object', properties: { a: { type: 'string' } } };
    const closed = { ...open, required: ['a'], additionalProperties: false };
    await answer(provider, { ...hello, responseFormat: { type: 'schema', name: 'An answer', schema: open } });
    await answer(provider, { ...hello, responseFormat: { type: 'schema', name: 'b', schema: closed } });
    await answer(provider, { ...hello, responseFormat: { type: 'json' } });
    expect(upstream.requests.map((one) => one.body)).toMatchObject([
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'An_answer', schema: open, strict: false },
        },
      },
      { response_format: { json_schema: { strict: true } } },
      {
        response_format: { type: 'json_object' },
        messages: [{ role: 'system', content: expect.stringContaining('JSON') }, { role: 'user' }],
      },
    ]);
  });

  it('uses the key of the user instead of the key of the platform', async () => {
    const { provider, upstream } = await openAI();
    await answer(provider, hello, { apiKey: 'sk-mine' });
    expect(upstream.requests[0]?.headers.authorization).toBe('Bearer sk-mine');
  });

  it('offers no models and sends nothing without a key', async () => {
    const { provider, upstream } = await openAI({}, { apiKey: undefined });
    expect(provider.models()).toEqual([]);
    expect((await failure(answer(provider))).kind).toBe('not_configured');
    expect(upstream.requests).toHaveLength(0);
    await answer(provider, hello, { apiKey: 'sk-mine' });
    expect(upstream.requests).toHaveLength(1);
  });

  it('reuses its connections', async () => {
    const { provider, upstream } = await openAI();
    for (let call = 0; call < 10; call += 1) await answer(provider);
    // A connection is free one event loop turn after its answer, so an immediate call may need a second one.
    expect(upstream.connections).toBeLessThanOrEqual(2);
  });
});

describe('embeddings of OpenAI', () => {
  it('returns embeddings in the order of the inputs', async () => {
    const { provider, upstream } = await openAI();
    const result = await provider.embed?.({ model: 'e', inputs: ['a', 'bb', 'ccc'], dimensions: 2 }, {});
    expect(result).toEqual({
      embeddings: [
        [0.125, 0.25],
        [0.25, 0.375],
        [0.375, 0.5],
      ],
      tokens: 6,
      model: 'embedding-test',
    });
    expect(upstream.requests[0]?.body).toEqual({
      model: 'e',
      input: ['a', 'bb', 'ccc'],
      dimensions: 2,
      encoding_format: 'float',
    });
  });

  it('classifies refused, incomplete, truncated and non-JSON responses', async () => {
    const { provider, upstream } = await openAI();
    const getKind = async () =>
      (await failure(Promise.resolve(provider.embed?.({ model: 'e', inputs: ['a', 'b'] }, {})))).kind;
    upstream.use({ refusal: { status: 429, body: {} } });
    expect(await getKind()).toBe('overloaded');
    upstream.use({ refusal: { status: 200, body: { data: [{ index: 1, embedding: [1] }] } } });
    expect(await getKind()).toBe('failed');
    upstream.use({
      refusal: { status: 200, body: '{"data":[', headers: { 'content-type': 'application/json' } },
    });
    expect(await getKind()).toBe('malformed_answer');
    upstream.use({ refusal: { status: 200, body: '<html>', headers: { 'content-type': 'text/html' } } });
    expect(await getKind()).toBe('malformed_answer');
  });

  it('stops when the signal aborts', async () => {
    const { provider, upstream } = await openAI({ wait: never });
    const leaving = new AbortController();
    const call = provider.embed?.({ model: 'e', inputs: ['a'] }, { signal: leaving.signal });
    const request = await upstream.request(0);
    leaving.abort(new Error('left'));
    await expect(call).rejects.toThrow('left');
    await request.disconnected;
  });
});

describe('catalogue of OpenAI models', () => {
  it('lists models with prices, replaced and extended by options, under the name of the provider', () => {
    const own = {
      id: 'gpt-6-luna',
      name: 'Mine',
      type: 'text',
      contextWindow: 10,
      maxOutputTokens: 5,
    } as const;
    const all = (models: Parameters<typeof createOpenAIProvider>[0]) =>
      createOpenAIProvider({ apiKey: 'k', id: 'mine', ...models }).models();
    const listed = all({});
    expect(listed.length).toBeGreaterThan(4);
    for (const model of listed) {
      expect(model.provider).toBe('mine');
      expect(Math.max(...Object.values(model.prices ?? {}))).toBeGreaterThan(0);
      if (model.type !== 'text' && model.type !== 'embedding') continue;
      expect(model.prices?.input).toBeGreaterThan(0);
      expect(model.contextWindow).toBeGreaterThan(model.maxOutputTokens);
    }
    const changed = all({
      models: [
        { ...own, provider: 'x' },
        { ...own, id: 'new', provider: 'x' },
      ],
    });
    expect(changed).toHaveLength(listed.length + 1);
    expect(changed.find((model) => model.id === 'gpt-6-luna')).toEqual({ ...own, provider: 'mine' });
    expect(all({ models: () => [{ ...own, provider: 'x' }] })).toEqual([{ ...own, provider: 'mine' }]);
  });

  it('returns the same array each time, so that the catalogue detects no change', () => {
    const provider = createOpenAIProvider({ apiKey: 'k' });
    expect(provider.models()).toBe(provider.models());
  });
});
