import { type ModelPart, ProviderError } from '@questline/core/ports';
import {
  type CompatibleModel,
  createOpenAICompatibleProvider,
  type OpenAICompatibleOptions,
} from '@questline/providers/compatible';
import { createCompatibleUpstream, type ScriptSource } from '@questline/testing/upstreams';
import { describe, expect, it } from 'vitest';
import { answer, failure, hello } from './collect.ts';
import { later, rawServer } from './set-up.ts';

type Options = Partial<OpenAICompatibleOptions>;

async function connect(script: ScriptSource = {}, options: Options = {}) {
  const upstream = await createCompatibleUpstream({ script });
  later(() => upstream.close());
  const provider = createOpenAICompatibleProvider({ id: 'local', baseUrl: upstream.baseUrl, ...options });
  later(async () => provider.close?.());
  return { provider, upstream };
}

const chunk = (delta: unknown, more: Record<string, unknown> = {}) => ({
  data: JSON.stringify({ choices: [{ index: 0, delta, ...more }] }),
});
const done = { data: '[DONE]' };
const textIn = (parts: readonly ModelPart[]) =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
const thoughtIn = (parts: readonly ModelPart[]) =>
  parts.map((part) => (part.type === 'thinking_delta' ? part.text : '')).join('');

const LISTED = { models: [{ id: 'qwen3:8b', object: 'model', owned_by: 'library' }] };

describe('models of a compatible server', () => {
  it('returns the list of the server, and the same array until it changes', async () => {
    const { provider, upstream } = await connect(LISTED, { prices: { input: 0, output: 0 } });
    expect(upstream.requests).toHaveLength(0);
    await provider.refreshModels();
    const models = provider.models();
    expect(models).toEqual([
      {
        id: 'qwen3:8b',
        name: 'qwen3:8b',
        type: 'text',
        provider: 'local',
        contextWindow: 8192,
        maxOutputTokens: 4096,
        supportsStreaming: true,
        supportsTools: true,
        prices: { input: 0, output: 0 },
      },
    ]);
    expect(upstream.requests[0]).toMatchObject({ method: 'GET', path: '/v1/models' });
    expect(upstream.requests[0]?.headers).not.toHaveProperty('authorization');
    await provider.refreshModels();
    expect(provider.models()).toBe(models);
  });

  it('requests no list before the first use and refreshes an old one', async () => {
    let now = 0;
    const { provider, upstream } = await connect(LISTED, { listModels: { now: () => now, refreshMs: 1000 } });
    expect(provider.models()).toEqual([]);
    await upstream.request(0);
    await provider.refreshModels();
    const asked = upstream.requests.length;
    provider.models();
    expect(upstream.requests).toHaveLength(asked);
    upstream.use({ models: [{ id: 'new' }] });
    now = 1000;
    provider.models();
    await upstream.request(asked);
    await provider.refreshModels();
    expect(provider.models().map(({ id }) => id)).toEqual(['new']);
  });

  it('keeps its models while the server is unavailable, and reports the error to the host', async () => {
    let now = 0;
    const heard: unknown[] = [];
    const { provider, upstream } = await connect(LISTED, {
      listModels: { now: () => now, refreshMs: 1, onError: (error) => heard.push(error) },
    });
    await provider.refreshModels();
    upstream.use({ refusal: { status: 500, body: 'no' } });
    await expect(provider.refreshModels()).rejects.toMatchObject({ name: 'ProviderError', kind: 'failed' });
    now = 1;
    expect(provider.models()).toHaveLength(1);
    await provider.refreshModels().catch(() => undefined);
    expect(heard[0]).toBeInstanceOf(ProviderError);
    expect(provider.models()).toHaveLength(1);
  });

  it.each<[string, Record<string, unknown>, Partial<CompatibleModel>]>([
    ['vLLM', { id: 'm', max_model_len: 40_960 }, { contextWindow: 40_960, maxOutputTokens: 20_480 }],
    ['llama.cpp', { id: 'm', meta: { n_ctx: 4096, n_ctx_train: 131_072 } }, { contextWindow: 4096 }],
    ['LM Studio', { id: 'm', max_context_length: 32_768 }, { contextWindow: 32_768 }],
    [
      'Groq',
      { id: 'm', context_window: 131_072, max_completion_tokens: 65_536 },
      { maxOutputTokens: 65_536 },
    ],
    [
      'Mistral',
      { id: 'm', capabilities: { function_calling: false, vision: true } },
      { supportsTools: false },
    ],
    ['Ollama', { id: 'nomic-embed-text:latest' }, { type: 'embedding', maxOutputTokens: 0 }],
  ])('reads the properties of models of %s', async (_name, model, expected) => {
    const { provider } = await connect({ models: [model] });
    expect((await provider.refreshModels())[0]).toMatchObject(expected);
  });

  it('lets the host name, change and omit models', async () => {
    const { provider } = await connect(
      { models: [{ id: 'a' }, { id: 'b' }, { id: 'mine' }] },
      {
        models: ['first', { id: 'mine', contextWindow: 100 }],
        listModels: {
          describe: (model) => (model.id === 'a' ? undefined : { ...model, supportsTools: false }),
        },
      },
    );
    await provider.refreshModels();
    expect(
      provider.models().map(({ id, contextWindow, supportsTools }) => [id, contextWindow, supportsTools]),
    ).toEqual([
      ['first', 8192, true],
      ['mine', 100, true],
      ['b', 8192, false],
    ]);
  });

  it('requests no list when the host names the models', async () => {
    const { provider, upstream } = await connect({}, { models: ['one'] });
    expect(provider.models().map(({ id }) => id)).toEqual(['one']);
    expect(await provider.refreshModels()).toBe(provider.models());
    expect(upstream.requests).toHaveLength(0);
  });

  it.each([
    ['a page', { status: 200, body: '<html>', headers: { 'content-type': 'text/html' } }],
    ['something else', { status: 200, body: { models: 'none' } }],
    ['no content', { status: 204, body: '' }],
    ['a redirect', { status: 302, body: '', headers: { location: '/v1/models' } }],
  ])('rejects a model list with %s', async (_name, refusal) => {
    const { provider } = await connect({ refusal });
    await expect(provider.refreshModels()).rejects.toMatchObject({
      name: 'ProviderError',
      kind: 'malformed_answer',
    });
  });
});

describe('request to a compatible server', () => {
  it('is a chat completion without a key unless one is configured', async () => {
    const { provider, upstream } = await connect({}, { models: ['m'] });
    await answer(provider, { ...hello, topK: 40, topP: 0.9, seed: 3, stop: ['END'], temperature: 0.1 });
    expect(upstream.requests[0]?.path).toBe('/v1/chat/completions');
    expect(upstream.requests[0]?.headers).not.toHaveProperty('authorization');
    expect(upstream.requests[0]?.body).toEqual({
      model: 'test-model',
      messages: [{ role: 'user', content: 'Hello' }],
      max_tokens: 100,
      temperature: 0.1,
      top_p: 0.9,
      top_k: 40,
      stop: ['END'],
      seed: 3,
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('takes the names of cap, key, headers and cache key from the options', async () => {
    const { provider, upstream } = await connect(
      {},
      {
        apiKey: 'sk-one',
        headers: { 'x-title': 'Questline' },
        maxTokensParameter: 'max_completion_tokens',
        promptCacheKey: true,
        streamUsage: false,
      },
    );
    await answer(provider, { ...hello, promptCache: { mode: 'auto', key: 'k' } });
    await answer(provider, { ...hello, promptCache: { mode: 'off', key: 'k' } }, { apiKey: 'sk-mine' });
    const [one, two] = upstream.requests.filter(({ method }) => method === 'POST');
    expect(one?.headers).toMatchObject({ authorization: 'Bearer sk-one', 'x-title': 'Questline' });
    expect(one?.body).toMatchObject({ max_completion_tokens: 100, prompt_cache_key: 'k' });
    expect(one?.body).not.toHaveProperty('stream_options');
    expect(two?.headers.authorization).toBe('Bearer sk-mine');
    expect(two?.body).not.toHaveProperty('prompt_cache_key');
  });

  it('contains tools, tool choice and effort of reasoning models', async () => {
    const tools = [{ name: 'look', description: 'Looks', parameters: { type: 'object' } }];
    const { provider, upstream } = await connect(
      {},
      { models: [{ id: 'test-model', supportsThinking: true }] },
    );
    const ask = (fields: object) => answer(provider, { ...hello, tools, ...fields });
    await ask({ toolChoice: { name: 'look' }, parallelToolCalls: false, reasoningEffort: 'low' });
    await ask({ toolChoice: 'none' });
    expect(upstream.requests.map(({ body }) => body)).toMatchObject([
      {
        tool_choice: { type: 'function', function: { name: 'look' } },
        parallel_tool_calls: false,
        reasoning_effort: 'low',
      },
      { tool_choice: 'none', tools: [{ function: { name: 'look' } }] },
    ]);
  });

  const mixed = [
    { role: 'system' as const, content: [{ type: 'text' as const, text: 'Be brief.' }] },
    {
      role: 'user' as const,
      content: [
        { type: 'text' as const, text: 'One' },
        { type: 'text' as const, text: 'Two' },
      ],
    },
  ];

  it.each([
    ['string', ['Be brief.', 'One\n\nTwo']],
    [
      'parts',
      [
        [{ type: 'text', text: 'Be brief.' }],
        [
          { type: 'text', text: 'One' },
          { type: 'text', text: 'Two' },
        ],
      ],
    ],
    [
      undefined,
      [
        'Be brief.',
        [
          { type: 'text', text: 'One' },
          { type: 'text', text: 'Two' },
        ],
      ],
    ],
  ] as const)('sends content as %s', async (contentAs, expected) => {
    const { provider, upstream } = await connect({}, { models: ['m'], ...(contentAs && { contentAs }) });
    await answer(provider, { ...hello, messages: mixed });
    const body = upstream.requests[0]?.body as { messages: { content: unknown }[] };
    expect(body.messages.map(({ content }) => content)).toEqual(expected);
  });

  it('rejects an image before sending when content is plain text', async () => {
    const { provider, upstream } = await connect({}, { models: ['m'], contentAs: 'string' });
    const content = [{ type: 'image', mediaType: 'image/png', data: 'aW1n' }] as const;
    const error = await failure(answer(provider, { ...hello, messages: [{ role: 'user', content }] }));
    expect(error.kind).toBe('invalid_request');
    expect(upstream.requests).toHaveLength(0);
  });
});

describe('list content of a compatible server', () => {
  const mistral = [
    chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Twelve ' }] }] }),
    chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'squared.' }], closed: true }] }),
    chunk({
      content: [
        { type: 'text', text: 'It is ' },
        { type: 'reference', reference_ids: [1] },
      ],
    }),
    chunk({ content: '144' }),
  ];

  it('is read as text and reasoning', async () => {
    const { provider } = await connect({ steps: mistral });
    const parts = await answer(provider);
    expect(textIn(parts)).toBe('It is 144');
    expect(thoughtIn(parts)).toBe('Twelve squared.');
    expect(JSON.stringify(parts)).not.toContain('[object Object]');
  });

  it('is sent back as a list, with separate reasoning in its own field', async () => {
    const { provider, upstream } = await connect({ steps: mistral });
    const asked = async () => {
      const thinking = (await answer(provider)).filter((part) => part.type === 'thinking');
      const use = { type: 'tool_use', id: 'c', name: 'look', input: {} } as const;
      const messages = [
        { role: 'assistant' as const, content: [...thinking, { type: 'text' as const, text: 'a' }, use] },
      ];
      await answer(provider, { ...hello, messages });
      const body = upstream.requests.at(-1)?.body as { messages: unknown[] };
      return body.messages[0];
    };
    expect(await asked()).toMatchObject({
      content: [
        { type: 'thinking', thinking: [{ type: 'text', text: 'Twelve squared.' }] },
        { type: 'text', text: 'a' },
      ],
    });
    upstream.use({ steps: [chunk({ reasoning: 'Hm' }), { text: 'a' }] });
    expect(await asked()).toMatchObject({ content: 'a', reasoning: 'Hm' });
  });

  it.each([
    ['of a kind that is not known', [{ type: 'hologram', data: 'x' }], /hologram/],
    ['without a type', [{ data: 'x' }], /without a type/],
    ['that is an object', { text: 'a' }, /neither text nor a list/],
    ['that is a number', 7, /neither text nor a list/],
    ['whose text is an object', [{ type: 'text', text: { a: 1 } }], /no string/],
  ])('reports an error for %s', async (_name, content, message) => {
    const { provider } = await connect({ steps: [chunk({ content })] });
    const error = await failure(answer(provider));
    expect(error.kind).toBe('malformed_answer');
    expect(error.message).toMatch(message);
  });
});

describe('nonstandard answers of a compatible server', () => {
  it('accepts an answer without a finish reason after its terminator', async () => {
    const { provider } = await connect({ finish: 'none', steps: [{ text: 'Hello' }, done] });
    expect((await answer(provider)).at(-1)).toEqual({ type: 'finish', reason: 'stop', model: 'gpt-test' });
    const tool = { tool: 'look', id: 'c', arguments: ['{"a":1}'] };
    const { provider: other } = await connect({ finish: 'none', steps: [tool, done] });
    expect((await answer(other)).at(-1)).toMatchObject({ reason: 'tool_use' });
  });

  it('accepts an answer without a finish reason after its usage', async () => {
    const count = {
      data: JSON.stringify({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 1 } }),
    };
    const { provider } = await connect({ finish: 'none', steps: [{ text: 'Hello' }, count] });
    expect((await answer(provider)).at(-1)).toMatchObject({ type: 'finish', reason: 'stop' });
  });

  it.each([
    ['nothing but a terminator', [done], 'failed'],
    ['text and no end', [{ text: 'Hel' }], 'failed'],
    ['half a call', [{ tool: 'look', id: 'c', arguments: ['{"a":'] }, done], 'malformed_answer'],
  ])('fails after %s', async (_name, steps, kind) => {
    const { provider } = await connect({ finish: 'none', steps });
    expect((await failure(answer(provider))).kind).toBe(kind);
  });

  const usage = { prompt_tokens: 30, completion_tokens: 8 };

  it.each<[string, object[], object]>([
    ['in the choice', [chunk({}, { finish_reason: 'stop', usage })], { input: 30, output: 8 }],
    [
      'beside the vendor',
      [{ data: JSON.stringify({ choices: [{ delta: {}, finish_reason: 'stop' }], x_groq: { usage } }) }],
      { input: 30, output: 8 },
    ],
    [
      'in every event, of which the last counts',
      [1, 8].map((completion_tokens) => ({
        data: JSON.stringify({
          choices: [{ delta: { content: 'a' }, ...(completion_tokens === 8 && { finish_reason: 'stop' }) }],
          usage: { prompt_tokens: 30, completion_tokens },
        }),
      })),
      { input: 30, output: 8 },
    ],
    [
      'with the cache in another field',
      [chunk({}, { finish_reason: 'stop', usage: { ...usage, prompt_cache_hit_tokens: 10 } })],
      { input: 20, cachedInput: 10 },
    ],
    [
      'with the cache beside the tokens',
      [chunk({}, { finish_reason: 'stop', usage: { ...usage, cached_tokens: 12 } })],
      { input: 18, cachedInput: 12 },
    ],
    [
      'with reasoning beside the completion',
      [
        chunk(
          {},
          {
            finish_reason: 'stop',
            usage: { ...usage, completion_tokens_details: { reasoning_tokens: 5 }, total_tokens: 43 },
          },
        ),
      ],
      { output: 8, reasoning: 5 },
    ],
  ])('reads usage reported %s', async (_name, steps, expected) => {
    const { provider } = await connect({
      finish: 'none',
      steps: [{ text: 'a' }, ...(steps as { data: string }[]), done],
    });
    const counts = (await answer(provider)).filter((part) => part.type === 'usage');
    expect(counts.at(-1)?.usage).toMatchObject(expected);
  });

  it('reports a call once its name is known', async () => {
    const call = (fields: object) => chunk({ tool_calls: [{ index: 1, ...fields }] });
    const { provider } = await connect({
      finish: 'tool_use',
      steps: [
        call({ id: 'c', function: { arguments: '{"a"' } }),
        call({ function: { name: 'look', arguments: ':' } }),
        call({ function: { arguments: '1}' } }),
      ],
    });
    const parts = (await answer(provider)).filter(({ type }) => type.startsWith('tool_use'));
    expect(parts).toEqual([
      { type: 'tool_use_delta', index: 0, id: 'c', name: 'look', arguments: '{"a":' },
      { type: 'tool_use_delta', index: 0, arguments: '1}' },
      { type: 'tool_use', id: 'c', name: 'look', arguments: '{"a":1}' },
    ]);
  });

  it('fails when a model disappears between listing and call', async () => {
    const { provider } = await connect({
      refusal: { status: 404, body: { error: { message: "model 'gone' not found", type: 'api_error' } } },
    });
    expect(await failure(answer(provider))).toMatchObject({ name: 'ProviderError' });
  });

  it('reports an error when no server is reachable', async () => {
    const address = await rawServer((socket) => socket.destroy());
    const provider = createOpenAICompatibleProvider({ id: 'local', baseUrl: `http://${address}/v1` });
    later(async () => provider.close?.());
    await expect(provider.refreshModels()).rejects.toMatchObject({ name: 'ProviderError', kind: 'failed' });
    expect((await failure(answer(provider))).kind).toBe('failed');
  });
});
