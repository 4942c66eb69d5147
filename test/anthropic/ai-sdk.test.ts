import { createAnthropic } from '@ai-sdk/anthropic';
import { describe, expect, it } from 'vitest';
import { AI_SDK_TOOLS, collect, reason, useTools } from '../support/vendor-wire.ts';
import { type AnthropicApp, createAnthropicApp, createThinker } from './support.ts';

const QUESTION = { role: 'user' as const, content: [{ type: 'text' as const, text: 'Weather in Oslo?' }] };

const connect = ({ baseURL, key }: AnthropicApp) =>
  createAnthropic({ baseURL: `${baseURL}/v1`, apiKey: key })('scripted');

describe('@ai-sdk/anthropic', () => {
  it('runs tools in two rounds', async () => {
    const app = await createAnthropicApp({ onCall: useTools });
    const model = connect(app);
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
    const app = await createAnthropicApp({ onCall: useTools });
    const { stream } = await connect(app).doStream({ prompt: [QUESTION], tools: AI_SDK_TOOLS });
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

  it('counts cached tokens, and returns reasoning with its signature', async () => {
    const app = await createAnthropicApp({ model: createThinker(reason) });
    const model = connect(app);
    const first = await model.doGenerate({ prompt: [QUESTION] });
    expect(first.usage.inputTokens).toMatchObject({ total: 45, cacheRead: 30, cacheWrite: 5 });
    const [thought] = first.content;
    if (thought?.type !== 'reasoning') throw new Error('no reasoning');
    await model.doGenerate({
      prompt: [
        QUESTION,
        {
          role: 'assistant',
          content: [
            {
              type: 'reasoning',
              text: thought.text,
              ...(thought.providerMetadata && { providerOptions: thought.providerMetadata }),
            },
            { type: 'text', text: 'Rain.' },
          ],
        },
        QUESTION,
      ],
    });
    expect(app.calls[1]?.request.messages[1]?.content).toEqual([
      { type: 'thinking', block: { type: 'thinking', thinking: 'hm', signature: 's1' } },
      { type: 'text', text: 'Rain.' },
    ]);
  });

  it('reports an answer that broke off as an error, without a tool call', async () => {
    const app = await createAnthropicApp({
      onCall(call) {
        call.say({ type: 'text', text: 'Let me see.' });
        call.say({ type: 'tool_use_delta', index: 0, id: 't1', name: 'weather', arguments: '{"ci' });
        call.fail(new Error('the connection broke'));
      },
    });
    const { stream } = await connect(app).doStream({ prompt: [QUESTION], tools: AI_SDK_TOOLS });
    const parts = await collect(stream);
    expect(parts.some(({ type }) => type === 'error')).toBe(true);
    expect(parts.some(({ type }) => type === 'tool-call')).toBe(false);
  });
});
