import type { GenerateRequest, ModelProvider } from '@questline/core/ports';
import { createAnthropicProvider } from '@questline/providers/anthropic';
import { createGeminiProvider } from '@questline/providers/gemini';
import { createAnthropicUpstream, createGeminiUpstream, type Upstream } from '@questline/testing/upstreams';
import { describe, expect, it } from 'vitest';
import { answer, hello } from './collect.ts';
import { connect } from './set-up.ts';

const look = { name: 'look', description: 'Looks', parameters: { type: 'object', properties: {} } };
const touch = { name: 'touch', description: 'Touches', parameters: { type: 'object', properties: {} } };
const withTools: GenerateRequest = { ...hello, tools: [look, touch] };

type Sent = Record<string, unknown>;
type Connected = { readonly upstream: Upstream; readonly provider: ModelProvider };

const vendors: Readonly<Record<string, () => Promise<Connected>>> = {
  anthropic: () => connect(createAnthropicUpstream, createAnthropicProvider, {}, {}),
  gemini: () => connect(createGeminiUpstream, createGeminiProvider, {}, {}),
};

async function sent(vendor: string, request: GenerateRequest): Promise<Sent> {
  const { provider, upstream } = await (vendors[vendor] as () => Promise<Connected>)();
  await answer(provider, request);
  return upstream.requests[0]?.body as Sent;
}

/** Vendor, model, request fields, and the expected fields in the vendor request. */
const FIELDS: readonly (readonly [string, string, Partial<GenerateRequest>, Sent])[] = [
  ['anthropic', 'claude-haiku-4-5', { topP: 0.5 }, { top_p: 0.5 }],
  ['anthropic', 'claude-haiku-4-5', { topK: 40 }, { top_k: 40 }],
  ['anthropic', 'claude-haiku-4-5', { stop: ['END', ' '] }, { stop_sequences: ['END'] }],
  ['anthropic', 'claude-haiku-4-5', { toolChoice: 'none' }, { tool_choice: { type: 'none' } }],
  ['anthropic', 'claude-haiku-4-5', { toolChoice: 'required' }, { tool_choice: { type: 'any' } }],
  [
    'anthropic',
    'claude-haiku-4-5',
    { toolChoice: { name: 'touch' } },
    { tool_choice: { type: 'tool', name: 'touch' } },
  ],
  [
    'anthropic',
    'claude-haiku-4-5',
    { parallelToolCalls: false },
    { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
  ],
  [
    'anthropic',
    'claude-haiku-4-5',
    { parallelToolCalls: false, toolChoice: 'required' },
    { tool_choice: { type: 'any', disable_parallel_tool_use: true } },
  ],
  ['anthropic', 'claude-opus-5-5', { reasoningEffort: 'xhigh' }, { output_config: { effort: 'xhigh' } }],
  ['anthropic', 'claude-opus-5-5', { reasoningEffort: 'minimal' }, { output_config: { effort: 'low' } }],
  ['anthropic', 'claude-opus-5-5', { reasoningEffort: 'none' }, { output_config: { effort: 'low' } }],
  ['anthropic', 'claude-haiku-5-5', { reasoningEffort: 'none' }, { thinking: { type: 'disabled' } }],
  ['gemini', 'gemini-3.8-flash', { topP: 0.5 }, { generationConfig: { topP: 0.5 } }],
  ['gemini', 'gemini-3.8-flash', { topK: 40 }, { generationConfig: { topK: 40 } }],
  ['gemini', 'gemini-3.8-flash', { seed: 7 }, { generationConfig: { seed: 7 } }],
  ['gemini', 'gemini-3.8-flash', { stop: ['END'] }, { generationConfig: { stopSequences: ['END'] } }],
  [
    'gemini',
    'gemini-3.8-flash',
    { toolChoice: 'none' },
    { toolConfig: { functionCallingConfig: { mode: 'NONE' } } },
  ],
  [
    'gemini',
    'gemini-3.8-flash',
    { toolChoice: 'required' },
    { toolConfig: { functionCallingConfig: { mode: 'ANY' } } },
  ],
  [
    'gemini',
    'gemini-3.8-flash',
    { toolChoice: { name: 'touch' } },
    { toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['touch'] } } },
  ],
  [
    'gemini',
    'gemini-3.8-flash',
    { reasoningEffort: 'minimal' },
    { generationConfig: { thinkingConfig: { thinkingLevel: 'low' } } },
  ],
  [
    'gemini',
    'gemini-3.8-flash',
    { reasoningEffort: 'xhigh' },
    { generationConfig: { thinkingConfig: { thinkingLevel: 'high' } } },
  ],
];

describe('request field', () => {
  it.each(FIELDS)('reaches %s for %s: %o', async (vendor, model, fields, expected) => {
    expect(await sent(vendor, { ...withTools, model, ...fields })).toMatchObject(expected);
  });

  it.each(['temperature', 'topP', 'topK'] as const)('omits %s where Claude 5.5 rejects it', async (field) => {
    const body = await sent('anthropic', { ...hello, model: 'claude-sonnet-5-5', [field]: 1 });
    expect(body).not.toHaveProperty(field.replace(/[A-Z]/, (letter) => `_${letter.toLowerCase()}`));
  });

  it('omits top_p beside a temperature', async () => {
    const body = await sent('anthropic', {
      ...hello,
      model: 'claude-haiku-4-5',
      temperature: 0.1,
      topP: 0.5,
    });
    expect(body).toMatchObject({ temperature: 0.1 });
    expect(body).not.toHaveProperty('top_p');
  });

  it('offers only the selected tool if a choice cannot be forced', async () => {
    const request: GenerateRequest = {
      ...withTools,
      model: 'claude-opus-5-5',
      toolChoice: { name: 'touch' },
    };
    const { tools, tool_choice } = await sent('anthropic', request);
    expect(tools).toMatchObject([{ name: 'touch' }]);
    expect(tool_choice).toEqual({ type: 'auto' });
    expect(await sent('anthropic', { ...request, toolChoice: 'required' })).not.toHaveProperty('tool_choice');
  });
});

describe('last round of a tool loop', () => {
  const history: GenerateRequest['messages'] = [
    ...hello.messages,
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'I look.' },
        { type: 'thinking', block: { type: 'thinking', thinking: 'Hm.', signature: 'sig' } },
        { type: 'tool_use', id: 'a', name: 'look', input: {} },
        { type: 'tool_use', id: 'b', name: 'touch', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', toolUseId: 'a', toolName: 'look', content: 'red', isError: false },
        { type: 'tool_result', toolUseId: 'b', toolName: 'touch', content: 'soft', isError: false },
      ],
    },
  ];

  it.each(['claude-haiku-4-5', 'claude-opus-5-5'])(
    'keeps the tools of %s and forbids their use',
    async (model) => {
      const body = await sent('anthropic', { ...withTools, model, messages: history, toolChoice: 'none' });
      expect(body.tools).toMatchObject([{ name: 'look' }, { name: 'touch' }]);
      expect(body.tool_choice).toEqual({ type: 'none' });
    },
  );

  it('defines the tools of a history when none is offered any more', async () => {
    const body = await sent('anthropic', { ...hello, model: 'claude-haiku-4-5', messages: history });
    expect(body.tools).toMatchObject([{ name: 'look' }, { name: 'touch' }]);
    expect(body.tool_choice).toEqual({ type: 'none' });
  });

  it('returns blocks in their original order, including text before a thinking block', async () => {
    const body = await sent('anthropic', { ...withTools, model: 'claude-opus-5-5', messages: history });
    const [, turn] = body.messages as { content: { type: string }[] }[];
    expect(turn?.content.map(({ type }) => type)).toEqual(['text', 'thinking', 'tool_use', 'tool_use']);
  });

  it('returns the signature of a text with its text', async () => {
    const signed = (signature: string) =>
      ({ type: 'thinking', block: { type: 'thought_signature', signature } }) as const;
    const body = await sent('gemini', {
      ...hello,
      model: 'gemini-3.8-flash',
      messages: [
        ...hello.messages,
        {
          role: 'assistant',
          content: [{ type: 'text', text: 'one' }, signed('s1'), { type: 'text', text: 'two' }, signed('s2')],
        },
        ...hello.messages,
      ],
    });
    const [, turn] = body.contents as { parts: unknown[] }[];
    expect(turn?.parts).toEqual([
      { text: 'one', thoughtSignature: 's1' },
      { text: 'two', thoughtSignature: 's2' },
    ]);
  });
});

describe('conversation with a truncated beginning', () => {
  it.each(['anthropic', 'gemini'])('starts with a user message for %s', async (vendor) => {
    const [question] = hello.messages;
    const said = { role: 'assistant', content: [{ type: 'text', text: 'Said before.' }] } as const;
    const messages = question === undefined ? [] : [said, question];
    const body = await sent(vendor, { ...hello, messages });
    const turns = (body.messages ?? body.contents) as { role: string }[];
    expect(turns.map(({ role }) => role)).toEqual([
      'user',
      vendor === 'gemini' ? 'model' : 'assistant',
      'user',
    ]);
    expect(JSON.stringify(turns[0])).toContain('left out');
  });
});
