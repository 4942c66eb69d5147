import { ChatAnthropic } from '@langchain/anthropic';
import { AIMessageChunk, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { describe, expect, it } from 'vitest';
import { sayAtOnce } from '../support/chat.ts';
import { collect, reason, useTools } from '../support/vendor-wire.ts';
import { type AnthropicApp, createAnthropicApp, createThinker, TOOLS } from './support.ts';

const QUESTION = new HumanMessage('Weather in Oslo?');
const CALLS = [
  { id: 't1', name: 'weather', args: { city: 'Oslo' } },
  { id: 't2', name: 'time', args: {} },
];

const connect = ({ baseURL, key }: AnthropicApp, maxRetries = 0): ChatAnthropic =>
  new ChatAnthropic({ model: 'scripted', apiKey: key, anthropicApiUrl: baseURL, maxRetries, maxTokens: 100 });

describe('ChatAnthropic of LangChain', () => {
  it('runs parallel tools in two rounds, and counts tokens', async () => {
    const app = await createAnthropicApp({ onCall: useTools });
    const model = connect(app).bindTools(TOOLS);
    const first = await model.invoke([QUESTION]);
    expect(first.tool_calls).toMatchObject(CALLS);
    const results = (first.tool_calls ?? []).map(
      ({ id = '' }) => new ToolMessage({ tool_call_id: id, content: 'rain' }),
    );
    const second = await model.invoke([QUESTION, first, ...results]);
    expect(second.text).toBe('Rain, at noon.');
    expect(second.usage_metadata).toMatchObject({ input_tokens: 30, output_tokens: 4, total_tokens: 34 });
  });

  it('streams text and tool calls', async () => {
    const app = await createAnthropicApp({ onCall: useTools });
    const chunks = await collect(await connect(app).bindTools(TOOLS).stream([QUESTION]));
    const whole = chunks.reduce((sum, chunk) => sum.concat(chunk), new AIMessageChunk(''));
    expect(whole.tool_calls).toMatchObject(CALLS);
    // It reads the input tokens at the start, where this provider has only an estimate.
    expect(whole.usage_metadata).toMatchObject({ input_tokens: 49, output_tokens: 9 });
  });

  it('returns reasoning with its signature', async () => {
    const app = await createAnthropicApp({ model: createThinker(reason) });
    const model = connect(app);
    await model.invoke([QUESTION, await model.invoke([QUESTION]), QUESTION]);
    expect(app.calls[1]?.request.messages[1]?.content).toEqual([
      { type: 'thinking', block: { type: 'thinking', thinking: 'hm', signature: 's1' } },
      { type: 'text', text: 'Rain.' },
    ]);
  });

  it('does not retry a refusal for missing credit', async () => {
    const app = await createAnthropicApp({ credits: 0, onCall: sayAtOnce('never') });
    await expect(connect(app, 3).invoke([QUESTION])).rejects.toThrow(/credit/i);
    expect(app.calls).toHaveLength(0);
  });
});
