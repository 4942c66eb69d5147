import type { ModelContent, ModelMessage, ModelPart } from '@questline/core';
import { describe, expect, test } from 'vitest';
import type { AiSdkModel } from '../src/index.ts';
import { answerOf, failureOf, finish, type hello, scripted, textParts } from './scripted.ts';

const text = (words: string): ModelContent => ({ type: 'text', text: words });
const base64 = (words: string) => Buffer.from(words).toString('base64');

/** What the model is called with. */
async function called(
  request: Partial<typeof hello>,
  fields: Parameters<typeof scripted>[1] = {},
  config: Partial<AiSdkModel> = {},
) {
  const { model, calls } = scripted([...textParts('ok'), finish], fields);
  await answerOf(model, request, config);
  const [call] = calls;
  if (call === undefined) throw new Error('not called');
  return call;
}

const promptOf = async (...messages: ModelMessage[]) => (await called({ messages })).prompt;

describe('a conversation', () => {
  test('is told with texts, images, documents, tool calls and their results', async () => {
    const prompt = await promptOf(
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

  test('has its system messages in front, and no empty ones', async () => {
    const prompt = await promptOf(
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
  ] as const)('with %s is refused', async (_, { role, type }) => {
    const piece: ModelContent =
      type === 'image' ? { type, mediaType: 'image/png', data: '' } : { type, id: 'x', name: 'x', input: {} };
    const messages: ModelMessage[] = [{ role, content: [piece] }];
    expect(await failureOf(called({ messages }))).toMatchObject({ kind: 'invalid_request' });
  });
});

describe('a call', () => {
  test('carries the cap, temperature, tools and format', async () => {
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

  test('leaves out what was not asked for', async () => {
    const call = await called({ tools: [] });
    for (const name of ['temperature', 'tools', 'toolChoice', 'responseFormat', 'reasoning']) {
      expect(call).not.toHaveProperty(name);
    }
    expect((await called({ responseFormat: { type: 'json' } })).responseFormat).toEqual({ type: 'json' });
  });

  test('can be changed by the host before it is made', async () => {
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

  test('asks for effort, from the effort or the budget', async () => {
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
  ])('of %s keeps what is written in all within the cap, thinking included', async (modelId) => {
    const fields = { provider: 'anthropic.messages', modelId };
    const call = await called({ maxTokens: 4000, thinking: { budgetTokens: 2000 } }, fields);
    expect(call).toMatchObject({
      maxOutputTokens: 2000,
      providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: 2000 } } },
    });
    expect(call.reasoning).toBeUndefined();
    const greedy = await called({ maxTokens: 2000, thinking: { budgetTokens: 32_000 } }, fields);
    expect(greedy.maxOutputTokens).toBe(1);
    const small = await called({ maxTokens: 1000, thinking: { budgetTokens: 2000 } }, fields);
    expect(small).toMatchObject({ maxOutputTokens: 1000 });
    expect(small.providerOptions?.anthropic).toBeUndefined();
    const byEffort = await called({ maxTokens: 8000, reasoningEffort: 'low' }, fields);
    expect(byEffort.maxOutputTokens).toBe(6000);
  });

  test('of later Claudes follows the effort', async () => {
    for (const modelId of ['claude-opus-4-6', 'claude-sonnet-5', 'claude-opus-5-5', 'claude-haiku-5-5']) {
      const fields = { provider: 'anthropic.messages', modelId };
      const call = await called({ maxTokens: 4000, reasoningEffort: 'medium' }, fields);
      expect(call).toMatchObject({ maxOutputTokens: 4000, reasoning: 'medium' });
    }
  });

  test('asks OpenAI to keep nothing', async () => {
    const call = await called({}, { provider: 'openai.responses' });
    expect(call.providerOptions?.openai).toEqual({ store: false });
    expect((await called({}, { provider: 'openai.chat' })).providerOptions).toEqual({});
  });
});

describe('what a vendor attached', () => {
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

  /** The way of an answer through a caller: thinking first, all text in one, then the calls; over JSON. */
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

  test('goes back to it where it was, in the order it came in', async () => {
    expect(await handedBack(keep(await answerOf(answer.model)))).toEqual(whole);
  });

  test('does not go to another vendor', async () => {
    expect(await handedBack(keep(await answerOf(answer.model)), { provider: 'other.chat' })).toEqual(bare);
  });

  test('is left out when the text was changed, or a call or a thought is missing', async () => {
    const kept = keep(await answerOf(answer.model));
    const edited = kept.map((piece) => (piece.type === 'text' ? text('Look: Undone.') : piece));
    expect(await handedBack(edited)).toEqual([{ type: 'text', text: 'Look: Undone.' }, ...bare.slice(1)]);
    const without = kept.filter((piece) => piece.type !== 'tool_use' || piece.id !== 'c2');
    expect(await handedBack(without)).toEqual(bare.slice(0, 2));
    expect(await handedBack(kept.slice(1))).toEqual(bare);
  });

  test('is not believed when a caller made it up', async () => {
    const kept = keep(await answerOf(answer.model));
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

  test('to reasoning alone needs no layout, and blocks of others are left out', async () => {
    const { model } = scripted([
      { type: 'reasoning-start', id: 'r', providerMetadata: metadata('r') },
      { type: 'reasoning-delta', id: 'r', delta: 'hm' },
      { type: 'reasoning-end', id: 'r' },
      ...textParts('Hi'),
      finish,
    ]);
    const kept = keep(await answerOf(model));
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
