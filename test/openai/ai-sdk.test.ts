import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { describe, expect, it } from 'vitest';
import { collect, AI_SDK_TOOLS as TOOLS, useTools } from '../support/vendor-wire.ts';
import { createOpenAIApp, type OpenAIApp } from './support.ts';

const PROVIDERS = {
  '@ai-sdk/openai': ({ baseURL, key }: OpenAIApp) => createOpenAI({ baseURL, apiKey: key }).chat('scripted'),
  '@ai-sdk/openai-compatible': ({ baseURL, key }: OpenAIApp) =>
    createOpenAICompatible({ name: 'questline', baseURL, apiKey: key, includeUsage: true })('scripted'),
};

describe.each(Object.entries(PROVIDERS))('%s', (_name, connect) => {
  const question = { role: 'user' as const, content: [{ type: 'text' as const, text: 'Weather in Oslo?' }] };

  it('runs tools in two rounds', async () => {
    const app = await createOpenAIApp({ onCall: useTools });
    const model = connect(app);
    const first = await model.doGenerate({ prompt: [question], tools: TOOLS });
    expect(first.finishReason.unified).toBe('tool-calls');
    const calls = first.content.flatMap((part) => (part.type === 'tool-call' ? [part] : []));
    expect(calls.map(({ toolCallId, toolName, input }) => [toolCallId, toolName, input])).toEqual([
      ['t1', 'weather', '{"city":"Oslo"}'],
      ['t2', 'time', '{}'],
    ]);
    const second = await model.doGenerate({
      prompt: [
        question,
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
    const app = await createOpenAIApp({ onCall: useTools });
    const { stream } = await connect(app).doStream({ prompt: [question], tools: TOOLS });
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
    const app = await createOpenAIApp({
      onCall(call) {
        call.say({ type: 'text', text: 'Let me see.' });
        call.say({ type: 'tool_use_delta', index: 0, id: 't1', name: 'weather', arguments: '{"ci' });
        call.fail(new Error('the connection broke'));
      },
    });
    const { stream } = await connect(app).doStream({ prompt: [question], tools: TOOLS });
    const parts = await collect(stream);
    expect(parts.some(({ type }) => type === 'error')).toBe(true);
    expect(parts.some(({ type }) => type === 'tool-call')).toBe(false);
  });
});
