import type { GenerateRequest, ModelContent, ModelMessage, ModelPart } from '@questline/core/ports';
import { describe, expect, test } from 'vitest';
import { type AiSdkModel, createAiSdkProvider } from '../src/index.ts';
import { finish, getAnswer, type hello, scripted, textParts, toFailure } from './scripted.ts';

const text = (words: string): ModelContent => ({ type: 'text', text: words });
const base64 = (words: string) => Buffer.from(words).toString('base64');

/** The call that the model receives. */
async function called(
  request: Partial<typeof hello>,
  fields: Parameters<typeof scripted>[1] = {},
  config: Partial<AiSdkModel> = {},
) {
  const { model, calls } = scripted([...textParts('ok'), finish], fields);
  await getAnswer(model, request, config);
  const [call] = calls;
  if (call === undefined) throw new Error('not called');
  return call;
}

const toPrompt = async (...messages: ModelMessage[]) => (await called({ messages })).prompt;

describe('fields that the bridge ignores', () => {
  const request: GenerateRequest = {
    model: 'm',
    messages: [{ role: 'user', content: [text('Hi')] }],
    maxTokens: 100,
    tools: [{ name: 'look', description: '', parameters: { type: 'object' } }],
    temperature: 0.5,
    topP: 0.5,
    topK: 5,
    stop: ['END'],
    seed: 1,
    toolChoice: 'required',
    parallelToolCalls: false,
    reasoningEffort: 'low',
  };

  test.each([
    ['another vendor', { provider: 'test.chat' }, ['parallelToolCalls']],
    ['Anthropic', { provider: 'anthropic.messages' }, []],
    ['OpenAI', { provider: 'openai.responses' }, []],
    ['an older interface', { specificationVersion: 'v3' }, ['parallelToolCalls', 'reasoningEffort']],
  ])('are named for %s', (_title, fields, expected) => {
    const { model } = scripted([finish], fields);
    const provider = createAiSdkProvider({
      id: 'test',
      models: [{ id: 'm', model, contextWindow: 1000, maxOutputTokens: 100 }],
    });
    expect(provider.ignores?.(request)).toEqual(expected);
  });
});

describe('conversation sent through the bridge', () => {
  test('sends texts, images, documents, tool calls and their results', async () => {
    const prompt = await toPrompt(
      { role: 'system', content: [text('Be'), text('brief')] },
      {
        role: 'user',
        content: [
          text('What is this?'),
          { type: 'image', mediaType: 'image/png', data: 'AAAA' },
          { type: 'document', mediaType: 'application/pdf', name: 'a.pdf', data: 'BBBB' },
          { type: 'document', mediaType: 'text/plain; charset=utf-8', name: 'n.txt', data: base64('note') },
        ],
      },
      {
        role: 'assistant',
        content: [text('I look.'), { type: 'tool_use', id: 'c1', name: 'look', input: { at: 1 } }],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', toolUseId: 'c1', toolName: 'look', content: 'a cat', isError: false },
          { type: 'tool_result', toolUseId: 'c2', toolName: 'look', content: 'dark', isError: true },
          text('And?'),
        ],
      },
    );
    expect(prompt).toEqual([
      { role: 'system', content: 'Be\n\nbrief' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAAA' } },
          {
            type: 'file',
            mediaType: 'application/pdf',
            filename: 'a.pdf',
            data: { type: 'data', data: 'BBBB' },
          },
          { type: 'text', text: 'n.txt:\n\nnote' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look.' },
          { type: 'tool-call', toolCallId: 'c1', toolName: 'look', input: { at: 1 } },
        ],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'c1',
            toolName: 'look',
            output: { type: 'text', value: 'a cat' },
          },
          {
            type: 'tool-result',
            toolCallId: 'c2',
            toolName: 'look',
            output: { type: 'error-text', value: 'dark' },
          },
        ],
      },
      { role: 'user', content: [{ type: 'text', text: 'And?' }] },
    ]);
  });

  test('puts system messages first and drops empty ones', async () => {
    const prompt = await toPrompt(
      { role: 'user', content: [text('a')] },
      { role: 'system', content: [text('late')] },
      { role: 'assistant', content: [text('')] },
      { role: 'user', content: [text('b')] },
    );
    expect(prompt.map((message) => message.role)).toEqual(['system', 'user', 'user']);
  });

  test.each([
    ['an image of the assistant', { role: 'assistant', type: 'image' }],
    ['an image in a system message', { role: 'system', type: 'image' }],
    ['a tool call of the user', { role: 'user', type: 'tool_use' }],
  ] as const)('rejects a conversation with %s', async (_, { role, type }) => {
    const piece: ModelContent =
      type === 'image' ? { type, mediaType: 'image/png', data: '' } : { type, id: 'x', name: 'x', input: {} };
    const messages: ModelMessage[] = [{ role, content: [piece] }];
    expect(await toFailure(called({ messages }))).toMatchObject({ kind: 'invalid_request' });
  });
});

describe('call options of the bridge', () => {
  test('sends the cap, temperature, tools and format', async () => {
    const call = await called({
      maxTokens: 77,
      temperature: 0.3,
      tools: [{ name: 'sum', description: 'Adds.', parameters: { type: 'object' } }],
      responseFormat: { type: 'schema', name: 'out', schema: { type: 'object' } },
    });
    expect(call).toMatchObject({
      maxOutputTokens: 77,
      temperature: 0.3,
      tools: [{ type: 'function', name: 'sum', description: 'Adds.', inputSchema: { type: 'object' } }],
      toolChoice: { type: 'auto' },
      responseFormat: { type: 'json', name: 'out', schema: { type: 'object' } },
    });
  });

  const tools = [
    { name: 'sum', description: 'Adds.', parameters: { type: 'object' } },
    { name: 'mean', description: 'Averages.', parameters: { type: 'object' } },
  ];

  test.each([
    [{ topP: 0.5 }, { topP: 0.5 }],
    [{ topK: 40 }, { topK: 40 }],
    [{ stop: ['END'] }, { stopSequences: ['END'] }],
    [{ seed: 7 }, { seed: 7 }],
    [{ toolChoice: 'none' }, { toolChoice: { type: 'none' } }],
    [{ toolChoice: 'required' }, { toolChoice: { type: 'required' } }],
    [{ toolChoice: { name: 'mean' } }, { toolChoice: { type: 'tool', toolName: 'mean' } }],
  ] as const)('sends %o', async (fields, expected) => {
    expect(await called({ tools, ...fields })).toMatchObject(expected);
  });

  test.each([
    ['anthropic.messages', { anthropic: { disableParallelToolUse: true } }],
    ['openai.chat', { openai: { parallelToolCalls: false } }],
    ['azure.responses', { azure: { parallelToolCalls: false, store: false } }],
  ])('asks %s for one tool call at a time', async (provider, expected) => {
    const call = await called({ tools, parallelToolCalls: false }, { provider });
    expect(call.providerOptions).toMatchObject(expected);
  });

  test('sends the prompt cache key to the vendors that accept one', async () => {
    const promptCache = { mode: 'auto', key: 'k' } as const;
    const call = await called({ promptCache }, { provider: 'openai.responses' });
    expect(call.providerOptions).toMatchObject({ openai: { promptCacheKey: 'k', store: false } });
    const off = await called(
      { promptCache: { ...promptCache, mode: 'off' } },
      { provider: 'openai.responses' },
    );
    expect(off.providerOptions?.openai).toEqual({ store: false });
  });

  test('sets cache breakpoints for Anthropic and no other vendor', async () => {
    const messages: ModelMessage[] = [
      { role: 'system', content: [text('Rules.')] },
      { role: 'user', content: [text('One.')] },
      { role: 'assistant', content: [text('Two.')], cacheBreakpoint: true },
      { role: 'user', content: [text('Three.')] },
    ];
    const marked = async (more: Partial<typeof hello>, provider: string) => {
      const { prompt, tools: offered = [] } = await called({ messages, tools, ...more }, { provider });
      return [...offered, ...prompt].flatMap((one, place) =>
        JSON.stringify(one).includes('cacheControl') ? [place] : [],
      );
    };
    // The last tool, the system text and the caller's own mark.
    expect(await marked({}, 'anthropic.messages')).toEqual([1, 2, 4]);
    expect(
      await marked(
        { messages: messages.map(({ role, content }) => ({ role, content })) },
        'anthropic.messages',
      ),
    ).toEqual([1, 2, 5]);
    expect(await marked({ promptCache: { mode: 'off' } }, 'anthropic.messages')).toEqual([]);
    expect(await marked({}, 'openai.chat')).toEqual([]);
  });

  test('starts the conversation with a user message where the vendor requires it', async () => {
    const messages: ModelMessage[] = [
      { role: 'assistant', content: [text('Said before.')] },
      { role: 'user', content: [text('Hi')] },
    ];
    const roles = async (provider: string) =>
      (await called({ messages }, { provider })).prompt.map(({ role }) => role);
    expect(await roles('google.generative-ai')).toEqual(['user', 'assistant', 'user']);
    expect(await roles('openai.chat')).toEqual(['assistant', 'user']);
  });

  test('omits options that were not requested', async () => {
    const call = await called({ tools: [] });
    for (const name of ['temperature', 'tools', 'toolChoice', 'responseFormat', 'reasoning']) {
      expect(call).not.toHaveProperty(name);
    }
    expect((await called({ responseFormat: { type: 'json' } })).responseFormat).toEqual({ type: 'json' });
  });

  test('lets the host change the call before it is made', async () => {
    const call = await called(
      {},
      {},
      {
        prepare: (made, request) => ({
          ...made,
          seed: request.maxTokens,
          providerOptions: { ...made.providerOptions, test: { user: 'u' } },
        }),
      },
    );
    expect(call).toMatchObject({ seed: 50, providerOptions: { test: { user: 'u' } } });
  });

  test('requests effort from the effort or the thinking budget', async () => {
    expect(await called({ reasoningEffort: 'high' })).toMatchObject({
      reasoning: 'high',
      maxOutputTokens: 50,
    });
    const byBudget = [1024, 8192, 32_000].map((budgetTokens) => called({ thinking: { budgetTokens } }));
    expect((await Promise.all(byBudget)).map((call) => call.reasoning)).toEqual(['low', 'medium', 'high']);
  });

  test.each([
    'claude-sonnet-4-5',
    'claude-opus-4-20250514',
    'claude-3-7-sonnet-20250219',
    'claude-sonnet-4@20250514',
  ])('keeps the output of %s within the cap, including thinking', async (modelId) => {
    const fields = { provider: 'anthropic.messages', modelId };
    const call = await called({ maxTokens: 4000, thinking: { budgetTokens: 2000 } }, fields);
    expect(call).toMatchObject({
      maxOutputTokens: 2000,
      providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: 2000 } } },
    });
    expect(call.reasoning).toBeUndefined();
    const greedy = await called({ maxTokens: 2000, thinking: { budgetTokens: 32_000 } }, fields);
    // A quarter of a small cap is reserved for the answer.
    expect(greedy.maxOutputTokens).toBe(500);
    const small = await called({ maxTokens: 1000, thinking: { budgetTokens: 2000 } }, fields);
    expect(small).toMatchObject({ maxOutputTokens: 1000 });
    expect(small.providerOptions?.anthropic).toBeUndefined();
    const byEffort = await called({ maxTokens: 8000, reasoningEffort: 'low' }, fields);
    expect(byEffort.maxOutputTokens).toBe(6000);
  });

  test('uses effort for later Claude models', async () => {
    for (const modelId of ['claude-opus-4-6', 'claude-sonnet-5', 'claude-opus-5-5', 'claude-haiku-5-5']) {
      const fields = { provider: 'anthropic.messages', modelId };
      const call = await called({ maxTokens: 4000, reasoningEffort: 'medium' }, fields);
      expect(call).toMatchObject({ maxOutputTokens: 4000, reasoning: 'medium' });
    }
  });

  test('asks OpenAI to store nothing', async () => {
    const call = await called({}, { provider: 'openai.responses' });
    expect(call.providerOptions?.openai).toEqual({ store: false });
    expect((await called({}, { provider: 'openai.chat' })).providerOptions).toEqual({});
  });
});

describe('provider metadata on messages', () => {
  const metadata = (name: string) => ({ test: { name } });
  const answer = scripted([
    { type: 'reasoning-start', id: 'r1' },
    { type: 'reasoning-delta', id: 'r1', delta: 'first', providerMetadata: metadata('r1') },
    { type: 'reasoning-end', id: 'r1' },
    { type: 'text-start', id: 't1' },
    { type: 'text-delta', id: 't1', delta: 'Look: ' },
    { type: 'text-end', id: 't1', providerMetadata: metadata('t1') },
    {
      type: 'tool-call',
      toolCallId: 'c1',
      toolName: 'sum',
      input: '{"a":1}',
      providerMetadata: metadata('c1'),
    },
    { type: 'reasoning-start', id: 'r2' },
    { type: 'reasoning-delta', id: 'r2', delta: 'second' },
    { type: 'reasoning-end', id: 'r2', providerMetadata: metadata('r2') },
    { type: 'text-start', id: 't2', providerMetadata: metadata('t2') },
    { type: 'text-delta', id: 't2', delta: 'Done.' },
    { type: 'text-end', id: 't2' },
    { type: 'tool-call', toolCallId: 'c2', toolName: 'sum', input: '{}' },
    finish,
  ]);

  /**
   * Stores the parts of an answer like a client: thinking first, all text in one part, then the calls;
   * through JSON.
   */
  function keep(parts: readonly ModelPart[]): ModelContent[] {
    const words = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
    const content: ModelContent[] = [
      ...parts.flatMap((part): ModelContent[] => (part.type === 'thinking' ? [part] : [])),
      text(words),
      ...parts.flatMap((part): ModelContent[] =>
        part.type === 'tool_use'
          ? [{ type: 'tool_use', id: part.id, name: part.name, input: JSON.parse(part.arguments) }]
          : [],
      ),
    ];
    return JSON.parse(JSON.stringify(content)) as ModelContent[];
  }

  const handedBack = async (content: ModelContent[], fields: Parameters<typeof scripted>[1] = {}) => {
    const messages: ModelMessage[] = [{ role: 'assistant', content }];
    return (await called({ messages }, fields)).prompt[0]?.content;
  };

  const whole = [
    { type: 'reasoning', text: 'first', providerOptions: metadata('r1') },
    { type: 'text', text: 'Look: ', providerOptions: metadata('t1') },
    {
      type: 'tool-call',
      toolCallId: 'c1',
      toolName: 'sum',
      input: { a: 1 },
      providerOptions: metadata('c1'),
    },
    { type: 'reasoning', text: 'second', providerOptions: metadata('r2') },
    { type: 'text', text: 'Done.', providerOptions: metadata('t2') },
    { type: 'tool-call', toolCallId: 'c2', toolName: 'sum', input: {} },
  ];
  const bare = [
    { type: 'text', text: 'Look: Done.' },
    { type: 'tool-call', toolCallId: 'c1', toolName: 'sum', input: { a: 1 } },
    { type: 'tool-call', toolCallId: 'c2', toolName: 'sum', input: {} },
  ];

  test('sends metadata back to its vendor in the original place and order', async () => {
    expect(await handedBack(keep(await getAnswer(answer.model)))).toEqual(whole);
  });

  test('does not send metadata to another vendor', async () => {
    expect(await handedBack(keep(await getAnswer(answer.model)), { provider: 'other.chat' })).toEqual(bare);
  });

  test('drops metadata when the text changed or a call or thought is missing', async () => {
    const kept = keep(await getAnswer(answer.model));
    const edited = kept.map((piece) => (piece.type === 'text' ? text('Look: Undone.') : piece));
    expect(await handedBack(edited)).toEqual([{ type: 'text', text: 'Look: Undone.' }, ...bare.slice(1)]);
    const without = kept.filter((piece) => piece.type !== 'tool_use' || piece.id !== 'c2');
    expect(await handedBack(without)).toEqual(bare.slice(0, 2));
    expect(await handedBack(kept.slice(1))).toEqual(bare);
  });

  test('ignores metadata that a caller forged', async () => {
    const kept = keep(await getAnswer(answer.model));
    for (const layout of [null, 'x', [null], [{ type: 'text' }], [{ type: 'other' }]]) {
      const forged = kept.map((piece) =>
        piece.type === 'thinking' && piece.block.type === 'redacted_thinking'
          ? { ...piece, block: { ...piece.block, layout } }
          : piece,
      );
      const content = await handedBack(forged as ModelContent[]);
      expect(JSON.stringify(content)).not.toContain('t1');
    }
  });

  test('sends a lone reasoning block without a layout and omits blocks of other vendors', async () => {
    const { model } = scripted([
      { type: 'reasoning-start', id: 'r', providerMetadata: metadata('r') },
      { type: 'reasoning-delta', id: 'r', delta: 'hm' },
      { type: 'reasoning-end', id: 'r' },
      ...textParts('Hi'),
      finish,
    ]);
    const kept = keep(await getAnswer(model));
    expect(kept.filter((piece) => piece.type === 'thinking')).toHaveLength(1);
    const foreign: ModelContent = {
      type: 'thinking',
      block: { type: 'thinking', thinking: 'x', signature: 's' },
    };
    expect(await handedBack([foreign, ...kept])).toEqual([
      { type: 'reasoning', text: 'hm', providerOptions: metadata('r') },
      { type: 'text', text: 'Hi' },
    ]);
  });
});
