import { AIMessageChunk, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { sayAtOnce } from '../support/chat.ts';
import { collect, useTools } from '../support/vendor-wire.ts';
import { createOpenAIApp, type OpenAIApp, TOOLS } from './support.ts';

const QUESTION = new HumanMessage('Weather in Oslo?');

function connect(
  { baseURL, key }: OpenAIApp,
  options: { maxRetries?: number; useResponsesApi?: boolean } = {},
): ChatOpenAI {
  return new ChatOpenAI({
    model: 'scripted',
    apiKey: key,
    maxRetries: 0,
    ...options,
    configuration: { baseURL },
  });
}

describe.each([false, true])('ChatOpenAI of LangChain (useResponsesApi: %s)', (useResponsesApi) => {
  it('runs parallel tools in two rounds, and counts tokens', async () => {
    const app = await createOpenAIApp({ onCall: useTools });
    const model = connect(app, { useResponsesApi }).bindTools(TOOLS);
    const first = await model.invoke([QUESTION]);
    expect(first.tool_calls).toMatchObject([
      { id: 't1', name: 'weather', args: { city: 'Oslo' } },
      { id: 't2', name: 'time', args: {} },
    ]);
    const results = (first.tool_calls ?? []).map(
      ({ id = '' }) => new ToolMessage({ tool_call_id: id, content: 'rain' }),
    );
    const second = await model.invoke([QUESTION, first, ...results]);
    expect(second.text).toBe('Rain, at noon.');
    expect(second.usage_metadata).toMatchObject({ input_tokens: 30, output_tokens: 4, total_tokens: 34 });
  });

  it('streams text, tool calls and usage', async () => {
    const app = await createOpenAIApp({ onCall: useTools });
    const chunks = await collect(await connect(app, { useResponsesApi }).bindTools(TOOLS).stream([QUESTION]));
    const whole = chunks.reduce((sum, chunk) => sum.concat(chunk), new AIMessageChunk(''));
    expect(whole.tool_calls).toMatchObject([
      { id: 't1', name: 'weather', args: { city: 'Oslo' } },
      { id: 't2', name: 'time', args: {} },
    ]);
    expect(whole.usage_metadata).toMatchObject({ input_tokens: 20, output_tokens: 9 });
  });

  it('asks for structured output by a schema', async () => {
    const app = await createOpenAIApp({ onCall: sayAtOnce('{"city":"Oslo"}') });
    const model = connect(app, { useResponsesApi }).withStructuredOutput(z.object({ city: z.string() }), {
      name: 'place',
      method: 'jsonSchema',
    });
    expect(await model.invoke([QUESTION])).toEqual({ city: 'Oslo' });
    expect(app.calls[0]?.request.responseFormat).toMatchObject({ type: 'schema', name: 'place' });
  });

  it('sends images', async () => {
    const app = await createOpenAIApp({ onCall: sayAtOnce('A dot.') });
    const image_url = { url: `data:image/png;base64,${DOT}` };
    await connect(app, { useResponsesApi }).invoke([
      new HumanMessage({
        content: [
          { type: 'text', text: 'What is it?' },
          { type: 'image_url', image_url },
        ],
      }),
    ]);
    expect(app.calls[0]?.request.messages[0]?.content).toMatchObject([
      { type: 'text', text: 'What is it?' },
      { type: 'image', data: DOT },
    ]);
  });

  it('does not retry a refusal for missing credit', async () => {
    const app = await createOpenAIApp({ credits: 0, onCall: sayAtOnce('never') });
    await expect(connect(app, { maxRetries: 3, useResponsesApi }).invoke([QUESTION])).rejects.toThrow(
      /credit/i,
    );
    expect(app.calls).toHaveLength(0);
  });
});

/** A PNG of one pixel. */
const DOT =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
