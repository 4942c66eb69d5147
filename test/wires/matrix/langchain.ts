import { ChatAnthropic } from '@langchain/anthropic';
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import {
  type AIMessage,
  AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  ToolMessage,
  type UsageMetadata,
} from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import * as z from 'zod';
import { type Answer, type Asked, type MatrixClient, type Server, type Turn, toDataUrl } from './client.ts';

function toMessages(turn: Turn): BaseMessage[] {
  switch (turn.role) {
    case 'user': {
      const { text, image, document } = turn;
      return [
        new HumanMessage({
          content: [
            { type: 'text', text },
            ...(image === undefined
              ? []
              : [{ type: 'image_url', image_url: { url: toDataUrl('image/png', image) } }]),
            ...(document === undefined
              ? []
              : [
                  {
                    type: 'file',
                    source_type: 'base64',
                    mime_type: 'application/pdf',
                    data: document,
                    metadata: { filename: 'a.pdf' },
                  },
                ]),
          ],
        }),
      ];
    }
    case 'assistant':
      return [turn.answer.turn as AIMessage];
    case 'tool':
      return turn.results.map(({ id, text }) => new ToolMessage({ tool_call_id: id, content: text }));
  }
}

type Connect = (server: Server, asked: Asked) => BaseChatModel & Pick<ChatOpenAI, 'bindTools'>;

async function ask(connect: Connect, server: Server, asked: Asked): Promise<Answer> {
  const { tools = [], signal } = asked;
  const schema = z.object({ city: z.string() });
  const chat = connect(server, asked);
  const messages = asked.turns.flatMap(toMessages);
  const options = signal === undefined ? {} : { signal };
  if (asked.isStructured) {
    const structured = chat.withStructuredOutput(schema, { name: 'place', includeRaw: true });
    const { raw, parsed } = await structured.invoke(messages, options);
    return { ...readMessage(raw as AIMessage, 1), value: parsed };
  }
  const model =
    tools.length === 0
      ? chat
      : chat.bindTools(tools.map((name) => ({ name, description: `The ${name} of a city`, schema })));
  if (!asked.isStreamed) return readMessage((await model.invoke(messages, options)) as AIMessage, 1);
  let whole = new AIMessageChunk('');
  let pieces = 0;
  for await (const chunk of await model.stream(messages, options)) {
    if (chunk.text !== '') pieces += 1;
    whole = whole.concat(chunk as AIMessageChunk);
  }
  return readMessage(whole, pieces);
}

function readMessage(message: AIMessage, pieces: number): Answer {
  const usage = message.usage_metadata as UsageMetadata | undefined;
  return {
    text: message.text,
    pieces,
    calls: (message.tool_calls ?? []).map(({ id = '', name, args }) => ({ id, name, input: args })),
    usage: {
      input: usage?.input_tokens ?? 0,
      output: usage?.output_tokens ?? 0,
      cachedInput: usage?.input_token_details?.cache_read,
      cacheWrite: usage?.input_token_details?.cache_creation,
      reasoning: usage?.output_token_details?.reasoning,
    },
    turn: message,
  };
}

const connectOpenAI =
  (useResponsesApi: boolean): Connect =>
  ({ baseURL, key }, asked) =>
    new ChatOpenAI({
      model: asked.model ?? 'scripted',
      apiKey: asked.key ?? key,
      maxRetries: asked.maxRetries ?? 0,
      useResponsesApi,
      configuration: { baseURL },
    });

const connectAnthropic: Connect = ({ baseURL, key }, asked) =>
  new ChatAnthropic({
    model: asked.model ?? 'scripted',
    apiKey: asked.key ?? key,
    anthropicApiUrl: baseURL,
    maxRetries: asked.maxRetries ?? 0,
    maxTokens: 200,
  }) as ReturnType<Connect>;

export const LANGCHAIN: readonly MatrixClient[] = [
  {
    name: 'LangChain ChatOpenAI, chat completions',
    wire: 'openai',
    cannot: {
      'reasoning kept over rounds': 'it drops the fields of a message that the vendor does not have',
    },
    ask: (server, asked) => ask(connectOpenAI(false), server, asked),
  },
  {
    name: 'LangChain ChatOpenAI, responses',
    wire: 'openai',
    isStored: true,
    ask: (server, asked) => ask(connectOpenAI(true), server, asked),
  },
  {
    name: 'LangChain ChatAnthropic',
    wire: 'anthropic',
    ask: (server, asked) => ask(connectAnthropic, server, asked),
  },
];
