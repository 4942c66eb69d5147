import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  generateText,
  type LanguageModel,
  type ModelMessage,
  Output,
  streamText,
  type ToolSet,
  tool,
} from 'ai';
import * as z from 'zod';
import type { Answer, Asked, MatrixClient, Server, Turn, Wire } from './client.ts';

function toMessages(turn: Turn): ModelMessage[] {
  switch (turn.role) {
    case 'user': {
      const { text, image, document } = turn;
      return [
        {
          role: 'user',
          content: [
            { type: 'text', text },
            ...(image === undefined ? [] : [{ type: 'file' as const, mediaType: 'image/png', data: image }]),
            ...(document === undefined
              ? []
              : [{ type: 'file' as const, mediaType: 'application/pdf', filename: 'a.pdf', data: document }]),
          ],
        },
      ];
    }
    case 'assistant':
      return turn.answer.turn as ModelMessage[];
    case 'tool':
      return [
        {
          role: 'tool',
          content: turn.results.map(({ id, name, text }) => ({
            type: 'tool-result',
            toolCallId: id,
            toolName: name,
            output: { type: 'text', value: text },
          })),
        },
      ];
  }
}

type Connect = (server: Server, key: string) => (model: string) => LanguageModel;

async function ask(connect: Connect, server: Server, asked: Asked): Promise<Answer> {
  const { tools = [], model = 'scripted', maxRetries = 0, signal } = asked;
  const inputSchema = z.object({ city: z.string() });
  const offered = Object.fromEntries(
    tools.map((name) => [name, tool({ description: `The ${name} of a city`, inputSchema })]),
  ) as ToolSet;
  const request = {
    model: connect(server, asked.key ?? server.key)(model),
    messages: asked.turns.flatMap(toMessages),
    maxRetries,
    maxOutputTokens: 200,
    tools: offered,
    ...(signal !== undefined && { abortSignal: signal }),
  };
  if (asked.isStructured) {
    const result = await generateText({ ...request, output: Output.object({ schema: inputSchema }) });
    return { ...readResult(result), value: result.output };
  }
  if (!asked.isStreamed) return readResult(await generateText(request));
  const stream = streamText({ ...request, onError: () => undefined });
  let pieces = 0;
  for await (const _text of stream.textStream) pieces += 1;
  return {
    ...readResult({
      text: await stream.text,
      toolCalls: await stream.toolCalls,
      usage: await stream.usage,
      response: await stream.response,
    }),
    pieces,
  };
}

interface Result extends Pick<Awaited<ReturnType<typeof generateText>>, 'text' | 'usage'> {
  readonly toolCalls: readonly {
    readonly toolCallId: string;
    readonly toolName: string;
    readonly input: unknown;
  }[];
  readonly response: { readonly messages: readonly ModelMessage[] };
}

function readResult({ text, toolCalls, usage, response }: Result): Answer {
  const { inputTokens = 0, outputTokens = 0, inputTokenDetails, outputTokenDetails } = usage;
  return {
    text,
    pieces: 1,
    calls: toolCalls.map(({ toolCallId: id, toolName: name, input }) => ({ id, name, input })),
    usage: {
      input: inputTokens,
      output: outputTokens,
      cachedInput: inputTokenDetails.cacheReadTokens,
      cacheWrite: inputTokenDetails.cacheWriteTokens,
      reasoning: outputTokenDetails.reasoningTokens,
    },
    turn: response.messages,
  };
}

function create(
  name: string,
  wire: Wire,
  connect: Connect,
  more: Pick<MatrixClient, 'cannot' | 'isStored'> = {},
): MatrixClient {
  return { name, wire, ...more, ask: (server, asked) => ask(connect, server, asked) };
}

export const AI_SDK: readonly MatrixClient[] = [
  create('@ai-sdk/openai, chat', 'openai', ({ baseURL }, apiKey) => createOpenAI({ baseURL, apiKey }).chat, {
    cannot: {
      'reasoning kept over rounds':
        'it reads no reasoning of chat completions; its default model, responses, does',
    },
  }),
  create('@ai-sdk/openai, responses', 'openai', ({ baseURL }, apiKey) => createOpenAI({ baseURL, apiKey }), {
    isStored: true,
  }),
  create(
    '@ai-sdk/openai-compatible',
    'openai',
    ({ baseURL }, apiKey) =>
      createOpenAICompatible({
        name: 'questline',
        baseURL,
        apiKey,
        includeUsage: true,
        supportsStructuredOutputs: true,
      }),
    { cannot: { 'reasoning kept over rounds': 'it keeps the text of the reasoning, without its signature' } },
  ),
  create('@ai-sdk/anthropic', 'anthropic', ({ baseURL }, apiKey) =>
    createAnthropic({ baseURL: `${baseURL}/v1`, apiKey }),
  ),
];
