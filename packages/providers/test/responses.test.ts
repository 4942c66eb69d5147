import type {
  GenerateRequest,
  ModelContent,
  ModelMessage,
  ModelPart,
  ThinkingBlock,
} from '@questline/core/ports';
import { createOpenAIProvider } from '@questline/providers/openai';
import { createXAIProvider } from '@questline/providers/xai';
import {
  createOpenAIUpstream,
  createXAIUpstream,
  openAIResponsesStream,
  type Script,
  type ScriptSource,
} from '@questline/testing/upstreams';
import { describe, expect, it } from 'vitest';
import { answer, failure, hello } from './collect.ts';
import { connect } from './set-up.ts';
import { cutEverywhere, truncateEverywhere } from './walk.ts';

const openAI = (script: ScriptSource = {}) => connect(createOpenAIUpstream, createOpenAIProvider, script, {});
const xai = (script: ScriptSource = {}) => connect(createXAIUpstream, createXAIProvider, script, {});

const rich: Script = {
  steps: [
    { thinking: 'Hm, naïve…' },
    { text: 'Grüße, ' },
    { text: '世界! 👩‍🚀' },
    { redacted: 'gAAAAAsecond' },
    { tool: 'weather', id: 'call_1', arguments: ['{"ci', 'ty":"Zü', 'rich"}'] },
    { tool: 'time', id: 'call_2', arguments: [] },
  ],
  usage: { input: 20, cachedInput: 1000, cacheWrite: 4, output: 30, reasoning: 7 },
};

const firstItem = {
  id: 'rs_0',
  type: 'reasoning',
  summary: [{ type: 'summary_text', text: 'Hm, naïve…' }],
  encrypted_content: 'gAAAAA0',
};

const secondItem = { id: 'rs_2', type: 'reasoning', summary: [], encrypted_content: 'gAAAAAsecond' };

const block = (item: Record<string, unknown>, more = {}): ThinkingBlock => ({
  type: 'responses_reasoning',
  provider: 'openai',
  ...more,
  item,
});

const richParts: ModelPart[] = [
  { type: 'thinking_delta', text: 'Hm, naïve…' },
  { type: 'thinking', block: block(firstItem, { thinking: 'Hm, naïve…' }) },
  { type: 'text', text: 'Grüße, ' },
  { type: 'text', text: '世界! 👩‍🚀' },
  { type: 'thinking', block: block(secondItem) },
  { type: 'tool_use_delta', index: 0, id: 'call_1', name: 'weather', arguments: '' },
  { type: 'tool_use_delta', index: 0, arguments: '{"ci' },
  { type: 'tool_use_delta', index: 0, arguments: 'ty":"Zü' },
  { type: 'tool_use_delta', index: 0, arguments: 'rich"}' },
  { type: 'tool_use', id: 'call_1', name: 'weather', arguments: '{"city":"Zürich"}' },
  { type: 'tool_use_delta', index: 1, id: 'call_2', name: 'time', arguments: '' },
  { type: 'tool_use_delta', index: 1, arguments: '{}' },
  { type: 'tool_use', id: 'call_2', name: 'time', arguments: '{}' },
  { type: 'usage', usage: { input: 20, cachedInput: 1000, cacheWrite: 4, output: 30, reasoning: 7 } },
  { type: 'finish', reason: 'tool_use', model: 'gpt-test' },
];

const event = (value: unknown) => ({ data: JSON.stringify(value) });
const completed = (response: Record<string, unknown> = {}) =>
  event({ type: 'response.completed', response: { status: 'completed', output: [], ...response } });

describe('stream of the Responses API', () => {
  it('is converted to parts: reasoning in place, text, complete tool calls, usage, finish reason', async () => {
    const { provider } = await openAI(rich);
    expect(await answer(provider)).toEqual(richParts);
  });

  it('is read equally at any split of the bytes', async () => {
    const script = rich;
    await cutEverywhere({
      ...(await openAI()),
      script,
      length: openAIResponsesStream(script).length,
      parts: richParts,
    });
  });

  it('fails when it is truncated', async () => {
    const script: Script = { steps: [{ text: 'a' }, { tool: 'one', id: 'c', arguments: ['{"x":1}'] }] };
    const { provider, upstream } = await openAI(script);
    const parts = await answer(provider);
    const length = openAIResponsesStream(script).length;
    // Complete only if nothing but the blank line after the last event is missing.
    expect(await truncateEverywhere({ provider, upstream, script, length, parts }, 'end')).toBe(2);
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

  it('drops the tool call that the cap cut off, and fails for other incomplete calls', async () => {
    const steps = [
      { tool: 'one', id: 'a', arguments: ['{}'] },
      { tool: 'two', id: 'b', arguments: ['{"x":'] },
    ];
    const { provider, upstream } = await openAI({ steps, finish: 'max_tokens' });
    const parts = await answer(provider);
    expect(parts.filter(({ type }) => type === 'tool_use')).toEqual([
      { type: 'tool_use', id: 'a', name: 'one', arguments: '{}' },
    ]);
    expect(parts.at(-1)).toMatchObject({ reason: 'max_tokens' });
    upstream.use({ steps });
    expect((await failure(answer(provider))).message).toMatch(/no JSON object/);
  });

  it('returns the text of a refusal and its finish reason', async () => {
    const { provider } = await openAI({
      finish: 'none',
      steps: [
        event({ type: 'response.refusal.delta', output_index: 0, delta: 'I cannot ' }),
        event({ type: 'response.refusal.delta', output_index: 0, delta: 'do that.' }),
        completed(),
      ],
    });
    expect(await answer(provider)).toEqual([
      { type: 'text', text: 'I cannot ' },
      { type: 'text', text: 'do that.' },
      { type: 'finish', reason: 'content_filter', model: 'gpt-test' },
    ]);
  });

  it('reads whole items when a server sends no deltas', async () => {
    const message = { type: 'message', content: [{ type: 'output_text', text: 'Hello' }] };
    const call = { type: 'function_call', call_id: 'c', name: 'look', arguments: '{"a":1}' };
    const { provider } = await openAI({ finish: 'none', steps: [completed({ output: [message, call] })] });
    expect(await answer(provider)).toEqual([
      { type: 'text', text: 'Hello' },
      { type: 'tool_use_delta', index: 0, id: 'c', name: 'look', arguments: '' },
      { type: 'tool_use_delta', index: 0, arguments: '{"a":1}' },
      { type: 'tool_use', id: 'c', name: 'look', arguments: '{"a":1}' },
      { type: 'finish', reason: 'tool_use', model: 'gpt-test' },
    ]);
  });

  it('returns reasoning in several parts and in plain text', async () => {
    const { provider } = await openAI({
      finish: 'none',
      steps: [
        event({ type: 'response.reasoning_summary_part.added', summary_index: 0 }),
        event({ type: 'response.reasoning_summary_text.delta', delta: 'One.' }),
        event({ type: 'response.reasoning_summary_part.added', summary_index: 1 }),
        event({ type: 'response.reasoning_text.delta', delta: 'Two.' }),
        completed(),
      ],
    });
    const parts = await answer(provider);
    expect(parts.map((part) => (part.type === 'thinking_delta' ? part.text : '')).join('')).toBe(
      'One.\n\nTwo.',
    );
  });

  it.each([
    ['an error event', { type: 'error', code: 'server_error', message: 'Oh', param: null }, 'failed'],
    ['an overload', { type: 'error', code: 'rate_limit_exceeded', message: 'Slow' }, 'overloaded'],
    [
      'a nested error',
      { type: 'error', error: { code: 'invalid_prompt', message: 'No' } },
      'content_blocked',
    ],
    [
      'a failed response',
      { type: 'response.failed', response: { error: { code: 'rate_limit_exceeded', message: 'Slow' } } },
      'overloaded',
    ],
    [
      'text that is no string',
      { type: 'response.output_text.delta', delta: [{ text: 'a' }] },
      'malformed_answer',
    ],
  ])('classifies %s', async (_name, value, kind) => {
    const { provider } = await openAI({ steps: [{ text: 'a' }, event(value)] });
    const error = await failure(answer(provider));
    expect(error.kind).toBe(kind);
    expect(error.message).not.toContain('[object Object]');
  });

  it.each([
    ['an item that is a number', { type: 'response.output_item.done', item: 3 }],
    ['an item without anything', { type: 'response.output_item.done' }],
    [
      'pieces of a call that was never opened',
      { type: 'response.function_call_arguments.delta', delta: '{}' },
    ],
    ['an event of the future', { type: 'response.dream.delta', delta: 'a' }],
    ['an event without a type', { delta: 'a' }],
    ['usage that is a string', { type: 'response.completed', response: { usage: 'many' } }],
  ])('ignores %s', async (_name, value) => {
    const { provider } = await openAI({ finish: 'none', steps: [{ text: 'a' }, event(value), completed()] });
    const parts = await answer(provider);
    expect(parts[0]).toEqual({ type: 'text', text: 'a' });
    expect(parts.at(-1)).toMatchObject({ type: 'finish', reason: 'stop' });
  });

  it.each([
    ['null', 'null'],
    ['no JSON', '{"type":'],
    [
      'a call without a name',
      JSON.stringify({ type: 'response.output_item.done', item: { type: 'function_call' } }),
    ],
    ['output that is no list', JSON.stringify({ type: 'response.completed', response: { output: 7 } })],
  ])('reports an error after %s', async (_name, data) => {
    const { provider } = await openAI({ finish: 'none', steps: [{ data }, completed()] });
    expect((await failure(answer(provider))).kind).toBe('malformed_answer');
  });

  it('ignores counts that are negative or not numbers', async () => {
    const usage = { input_tokens: -5, output_tokens: 'x', input_tokens_details: { cached_tokens: -1 } };
    const { provider } = await openAI({ finish: 'none', steps: [completed({ usage })] });
    expect((await answer(provider))[0]).toEqual({
      type: 'usage',
      usage: { input: 0, output: 0, cachedInput: 0, cacheWrite: 0, reasoning: 0 },
    });
  });

  it('returns the usage of a failed response', async () => {
    const usage = { input_tokens: 5, output_tokens: 3 };
    const failed = {
      type: 'response.failed',
      response: { usage, error: { code: 'server_error', message: 'x' } },
    };
    const { provider } = await openAI({ steps: [{ text: 'a' }, event(failed)] });
    const seen: ModelPart[] = [];
    await expect(
      (async () => {
        for await (const chunk of await provider.generate(hello, {})) seen.push(...[chunk].flat());
      })(),
    ).rejects.toMatchObject({ kind: 'failed' });
    expect(seen.at(-1)).toMatchObject({ type: 'usage', usage: { input: 5, output: 3 } });
  });

  it('counts reasoning outside the output when the total says so', async () => {
    const usage = (total_tokens: number) =>
      completed({
        usage: {
          input_tokens: 10,
          output_tokens: 20,
          output_tokens_details: { reasoning_tokens: 5 },
          total_tokens,
        },
      });
    const { provider, upstream } = await openAI({ finish: 'none', steps: [usage(30)] });
    expect((await answer(provider))[0]).toMatchObject({ usage: { output: 15, reasoning: 5 } });
    upstream.use({ finish: 'none', steps: [usage(35)] });
    expect((await answer(provider))[0]).toMatchObject({ usage: { output: 20, reasoning: 5 } });
  });
});

const user = (...content: ModelContent[]): ModelMessage => ({ role: 'user', content });
const assistant = (...content: ModelContent[]): ModelMessage => ({ role: 'assistant', content });
const text = (value: string): ModelContent => ({ type: 'text', text: value });
const use = (id: string): ModelContent => ({ type: 'tool_use', id, name: 'look', input: { at: 'it' } });
const result = (id: string, isError = false): ModelContent => ({
  type: 'tool_result',
  toolUseId: id,
  toolName: 'look',
  content: 'seen',
  isError,
});
const tools = [{ name: 'look', description: 'Looks', parameters: { type: 'object', properties: {} } }];

describe('request to the Responses API', () => {
  it('contains messages, tools and media, and stores nothing', async () => {
    const { provider, upstream } = await openAI();
    const csv = Buffer.from('a;b').toString('base64');
    await answer(provider, {
      model: 'gpt-6.2-sol',
      maxTokens: 500,
      temperature: 0.5,
      tools,
      toolChoice: { name: 'look' },
      parallelToolCalls: false,
      promptCache: { mode: 'auto', key: 'prefix-1' },
      messages: [
        { role: 'system', content: [text('Be brief.')] },
        user(
          text('What is this?'),
          { type: 'image', mediaType: 'image/png', data: 'aWJhc2U2NA==' },
          { type: 'document', mediaType: 'application/pdf', data: 'cGRm', name: 'a.pdf' },
          { type: 'document', mediaType: 'text/csv', data: csv, name: 'a.csv' },
        ),
        assistant({ type: 'thinking', block: block(firstItem) }, text('I look.'), use('c1'), use('c2')),
        user(result('c1'), result('c2', true), text('And?')),
      ],
    });
    const [received] = upstream.requests;
    expect(received?.path).toBe('/v1/responses');
    expect(received?.headers).toMatchObject({ authorization: 'Bearer sk-platform-secret' });
    expect(received?.body).toEqual({
      model: 'gpt-6.2-sol',
      store: false,
      stream: true,
      include: ['reasoning.encrypted_content'],
      max_output_tokens: 500,
      prompt_cache_key: 'prefix-1',
      tools: [{ type: 'function', ...tools[0], strict: false }],
      tool_choice: { type: 'function', name: 'look' },
      parallel_tool_calls: false,
      input: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'What is this?' },
            { type: 'input_image', image_url: 'data:image/png;base64,aWJhc2U2NA==', detail: 'auto' },
            { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,cGRm' },
            { type: 'input_text', text: 'a.csv:\n\na;b' },
          ],
        },
        firstItem,
        { role: 'assistant', content: 'I look.' },
        { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"at":"it"}' },
        { type: 'function_call', call_id: 'c2', name: 'look', arguments: '{"at":"it"}' },
        { type: 'function_call_output', call_id: 'c1', output: 'seen' },
        { type: 'function_call_output', call_id: 'c2', output: 'Error: seen' },
        { role: 'user', content: 'And?' },
      ],
    });
  });

  it('returns reasoning only before the item it led to, and only to its provider', async () => {
    const { provider, upstream } = await openAI();
    const foreign = { ...block(firstItem), provider: 'xai' };
    await answer(provider, {
      ...hello,
      model: 'gpt-6.2-sol',
      messages: [
        user(text('One')),
        assistant(
          { type: 'thinking', block: foreign },
          { type: 'thinking', block: { type: 'thinking', thinking: 'of another vendor', signature: 's' } },
          { type: 'thinking', block: block({ ...firstItem, encrypted_content: null }) },
          { type: 'thinking', block: block(firstItem) },
          text('Two'),
          { type: 'thinking', block: block(secondItem) },
        ),
        user(text('Three')),
      ],
    });
    expect(upstream.requests[0]?.body).toMatchObject({
      input: [
        { role: 'user', content: 'One' },
        firstItem,
        { role: 'assistant', content: 'Two' },
        { role: 'user', content: 'Three' },
      ],
    });
  });

  it('repeats the call without reasoning that the vendor cannot decrypt', async () => {
    const { provider, upstream } = await openAI({ steps: [{ text: 'ok' }] });
    const unreadable = block({ ...firstItem, encrypted_content: 'of another account' });
    const messages = [
      user(text('a')),
      assistant({ type: 'thinking', block: unreadable }, text('b')),
      user(text('c')),
    ];
    const parts = await answer(provider, { ...hello, model: 'gpt-6.2-sol', messages });
    expect(parts[0]).toEqual({ type: 'text', text: 'ok' });
    expect(upstream.requests.map(({ body }) => (body as { input: unknown[] }).input.length)).toEqual([4, 3]);
  });

  it.each<[string, Partial<GenerateRequest>, string | undefined]>([
    ['gpt-6.2-sol', { reasoningEffort: 'none' }, 'low'],
    ['gpt-6.2-astra', { reasoningEffort: 'minimal' }, 'low'],
    ['gpt-6.2-astra', { reasoningEffort: 'xhigh' }, 'xhigh'],
    ['gpt-6-luna', { reasoningEffort: 'none' }, 'none'],
    ['gpt-6.1-terra', { reasoningEffort: 'minimal' }, 'low'],
    ['gpt-5', { reasoningEffort: 'none' }, 'minimal'],
    ['o3', { reasoningEffort: 'xhigh' }, 'high'],
    ['gpt-6.2-sol', { thinking: { budgetTokens: 20_000 } }, 'high'],
    ['gpt-4.1', { reasoningEffort: 'high' }, undefined],
  ])('maps the effort for %s: %o', async (model, fields, effort) => {
    const { provider, upstream } = await openAI();
    await answer(provider, { ...hello, ...fields, model, temperature: 0.3, topP: 0.9 });
    const body = upstream.requests[0]?.body as Record<string, { effort?: string; summary?: string }>;
    expect(body.reasoning?.effort).toBe(effort);
    expect(body.reasoning?.summary).toBe(fields.thinking === undefined ? undefined : 'auto');
    expect('temperature' in body).toBe(model === 'gpt-4.1');
    expect('top_p' in body).toBe(model === 'gpt-4.1');
    expect('include' in body).toBe(model !== 'gpt-4.1');
  });

  it('omits fields that OpenAI lacks and sends them to xAI', async () => {
    const fields = { topK: 5, seed: 7, stop: ['END'], topP: 0.9, temperature: 0.4 };
    const one = await openAI();
    await answer(one.provider, { ...hello, ...fields, model: 'gpt-6.2-sol' });
    const two = await xai();
    await answer(two.provider, { ...hello, ...fields, model: 'grok-4.7' });
    expect(Object.keys(one.upstream.requests[0]?.body as object)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/top_k|seed|stop/)]),
    );
    expect(two.upstream.requests[0]?.body).toMatchObject({ top_k: 5, seed: 7, top_p: 0.9, temperature: 0.4 });
  });

  it.each(['auto', 'none', 'required'] as const)('sends the tool choice %s', async (toolChoice) => {
    const { provider, upstream } = await openAI();
    await answer(provider, { ...hello, tools, toolChoice });
    expect(upstream.requests[0]?.body).toMatchObject({ tool_choice: toolChoice });
  });

  it('omits the cache key when caching is off and the tool choice without tools', async () => {
    const { provider, upstream } = await openAI();
    await answer(provider, { ...hello, toolChoice: 'none', promptCache: { mode: 'off', key: 'k' } });
    expect(upstream.requests[0]?.body).not.toHaveProperty('prompt_cache_key');
    expect(upstream.requests[0]?.body).not.toHaveProperty('tool_choice');
  });

  it('requests JSON, strictly if the schema or the client allows it', async () => {
    const { provider, upstream } = await openAI();
    const open = { type: 'object', properties: { a: { type: 'string' } } };
    const closed = { ...open, required: ['a'], additionalProperties: false };
    const ask = (responseFormat: GenerateRequest['responseFormat']) =>
      answer(provider, { ...hello, ...(responseFormat && { responseFormat }) });
    await ask({ type: 'schema', name: 'An answer', schema: open });
    await ask({ type: 'schema', name: 'b', schema: closed });
    await ask({ type: 'schema', name: 'c', schema: closed, strict: false });
    await ask({ type: 'json' });
    expect(upstream.requests.map((one) => one.body)).toMatchObject([
      { text: { format: { type: 'json_schema', name: 'An_answer', schema: open, strict: false } } },
      { text: { format: { strict: true } } },
      { text: { format: { strict: false } } },
      { text: { format: { type: 'json_object' } }, input: [{ role: 'system' }, { role: 'user' }] },
    ]);
  });

  it('limits the ids of a call and its result to the same 64 characters', async () => {
    const { provider, upstream } = await openAI();
    const id = 'x'.repeat(80);
    await answer(provider, { ...hello, messages: [user(text('a')), assistant(use(id)), user(result(id))] });
    const body = upstream.requests[0]?.body as { input: { call_id: string }[] };
    const [, call, output] = body.input;
    expect(call?.call_id.length).toBeLessThanOrEqual(64);
    expect(output?.call_id).toBe(call?.call_id);
  });

  it('raises the cap to the minimum of OpenAI', async () => {
    const { provider, upstream } = await openAI();
    await answer(provider, { ...hello, maxTokens: 5 });
    expect(upstream.requests[0]?.body).toMatchObject({ max_output_tokens: 16 });
  });

  it('sends a complete answer back in a form that its vendor accepts', async () => {
    for (const { provider, upstream } of [
      await openAI(rich),
      await xai({ ...rich, steps: rich.steps?.filter((step) => !('redacted' in step)) ?? [] }),
    ]) {
      const model = provider.id === 'xai' ? 'grok-4.7' : 'gpt-6.2-sol';
      const content = (await answer(provider, { ...hello, model, tools })).flatMap((part): ModelContent[] => {
        if (part.type === 'text') return [part];
        if (part.type === 'thinking') return [part];
        if (part.type !== 'tool_use') return [];
        return [{ type: 'tool_use', id: part.id, name: part.name, input: JSON.parse(part.arguments) }];
      });
      upstream.use({ steps: [{ text: 'done' }] });
      const messages = [...hello.messages, assistant(...content), user(result('call_1'), result('call_2'))];
      const parts = await answer(provider, { ...hello, model, tools, toolChoice: 'none', messages });
      expect(parts[0]).toEqual({ type: 'text', text: 'done' });
      expect(upstream.requests).toHaveLength(2);
    }
  });
});

describe('protocol for OpenAI', () => {
  const ask = async (
    options: Parameters<typeof createOpenAIProvider>[0],
    request: Partial<GenerateRequest> = {},
  ) => {
    const { provider, upstream } = await connect(
      createOpenAIUpstream,
      createOpenAIProvider,
      {},
      options ?? {},
    );
    const error = await answer(provider, { ...hello, ...request }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    return { path: upstream.requests[0]?.path, body: upstream.requests[0]?.body, error };
  };

  it('is the Responses API unless an option selects another', async () => {
    expect((await ask({})).path).toBe('/v1/responses');
    expect((await ask({ protocol: 'chat' })).path).toBe('/v1/chat/completions');
    expect((await ask({ maxTokensField: 'max_tokens' })).path).toBe('/v1/chat/completions');
    expect((await ask({ streamUsage: false })).path).toBe('/v1/chat/completions');
    expect((await ask({ streamUsage: false, protocol: 'responses' })).path).toBe('/v1/responses');
  });

  it.each(['gpt-6.2-astra', 'gpt-6.2-sol', 'gpt-6.1-terra', 'gpt-6-luna', 'gpt-4.1', 'gpt-4o-mini'])(
    'lets %s use tools',
    async (model) => {
      expect((await ask({}, { model, tools })).error).toBeUndefined();
    },
  );

  it('rejects tools with current models on chat completions', async () => {
    const { error } = await ask({ protocol: 'chat' }, { model: 'gpt-6.2-sol', tools });
    expect(error).toMatchObject({ kind: 'invalid_request' });
  });

  it.each(['gpt-6.2-sol', 'gpt-6-luna', 'o3', 'gpt-5', 'gpt-4.1'])(
    'limits %s on chat completions with the field it supports, at any address',
    async (model) => {
      expect(
        (await ask({ protocol: 'chat' }, { model, temperature: 0.5, topP: 0.5, stop: ['x'] })).error,
      ).toBeUndefined();
    },
  );
});
