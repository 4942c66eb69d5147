import type { createAnthropic } from '@ai-sdk/anthropic';
import { expect, it } from 'vitest';
import type { ChatAppOptions } from './chat.ts';
import { collect, useTools } from './vendor-wire.ts';

/** A language model of the AI SDK. */
type AiSdkModel = ReturnType<ReturnType<typeof createAnthropic>>;

export const QUESTION = {
  role: 'user' as const,
  content: [{ type: 'text' as const, text: 'Weather in Oslo?' }],
};

/** A tool that `useTools` calls. */
const AI_SDK_TOOLS = [
  {
    type: 'function' as const,
    name: 'weather',
    description: 'The weather of a city',
    inputSchema: { type: 'object' as const, properties: { city: { type: 'string' as const } } },
  },
];

/** Adds the tests that every provider of the AI SDK passes over its wire. @param createModel serves a new app. */
export function testAiSdkModel(createModel: (options: ChatAppOptions) => Promise<AiSdkModel>): void {
  it('runs tools in two rounds', async () => {
    const model = await createModel({ onCall: useTools });
    const first = await model.doGenerate({ prompt: [QUESTION], tools: AI_SDK_TOOLS });
    expect(first.finishReason.unified).toBe('tool-calls');
    const calls = first.content.flatMap((part) => (part.type === 'tool-call' ? [part] : []));
    expect(calls.map(({ toolCallId, toolName, input }) => [toolCallId, toolName, input])).toEqual([
      ['t1', 'weather', '{"city":"Oslo"}'],
      ['t2', 'time', '{}'],
    ]);
    const second = await model.doGenerate({
      prompt: [
        QUESTION,
        {
          role: 'assistant',
          content: calls.map(({ toolCallId, toolName, input }) => ({
            type: 'tool-call' as const,
            toolCallId,
            toolName,
            input: JSON.parse(input),
          })),
        },
        {
          role: 'tool',
          content: calls.map(({ toolCallId, toolName }) => ({
            type: 'tool-result' as const,
            toolCallId,
            toolName,
            output: { type: 'text' as const, value: 'rain' },
          })),
        },
      ],
    });
    expect(second.content).toMatchObject([{ type: 'text', text: 'Rain, at noon.' }]);
    expect(second.usage.inputTokens.total).toBe(30);
    expect(second.usage.outputTokens.total).toBe(4);
  });

  it('streams text, tool calls and usage', async () => {
    const model = await createModel({ onCall: useTools });
    const { stream } = await model.doStream({ prompt: [QUESTION], tools: AI_SDK_TOOLS });
    const parts = await collect(stream);
    expect(parts.filter(({ type }) => type === 'error')).toEqual([]);
    expect(parts.filter(({ type }) => type === 'tool-call')).toMatchObject([
      { toolCallId: 't1', toolName: 'weather', input: '{"city":"Oslo"}' },
      { toolCallId: 't2', toolName: 'time', input: '{}' },
    ]);
    expect(parts.at(-1)).toMatchObject({
      type: 'finish',
      finishReason: { unified: 'tool-calls' },
      usage: { inputTokens: { total: 20 }, outputTokens: { total: 9 } },
    });
  });

  it('reports an answer that broke off as an error, without a tool call', async () => {
    const model = await createModel({
      onCall(call) {
        call.say({ type: 'text', text: 'Let me see.' });
        call.say({ type: 'tool_use_delta', index: 0, id: 't1', name: 'weather', arguments: '{"ci' });
        call.fail(new Error('the connection broke'));
      },
    });
    const { stream } = await model.doStream({ prompt: [QUESTION], tools: AI_SDK_TOOLS });
    const parts = await collect(stream);
    expect(parts.some(({ type }) => type === 'error')).toBe(true);
    expect(parts.some(({ type }) => type === 'tool-call')).toBe(false);
  });
}
