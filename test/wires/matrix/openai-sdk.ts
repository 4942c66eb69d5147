import OpenAI from 'openai';
import type {
  ChatCompletion,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import type {
  Response,
  ResponseCreateParamsNonStreaming,
  ResponseInputItem,
} from 'openai/resources/responses/responses';
import {
  type Answer,
  type Asked,
  type MatrixClient,
  SCHEMA,
  type Server,
  type Turn,
  toDataUrl,
} from './client.ts';

function connect({ baseURL, key }: Server, asked: Asked): OpenAI {
  return new OpenAI({ baseURL, apiKey: asked.key ?? key, maxRetries: asked.maxRetries ?? 0 });
}

const tool = (name: string) => ({
  name,
  description: `The ${name} of a city`,
  parameters: SCHEMA,
  strict: true,
});

function toMessages(turn: Turn): ChatCompletionMessageParam[] {
  switch (turn.role) {
    case 'user': {
      const { text, image, document } = turn;
      return [
        {
          role: 'user',
          content: [
            { type: 'text', text },
            ...(image === undefined
              ? []
              : [{ type: 'image_url' as const, image_url: { url: toDataUrl('image/png', image) } }]),
            ...(document === undefined
              ? []
              : [
                  {
                    type: 'file' as const,
                    file: { filename: 'a.pdf', file_data: toDataUrl('application/pdf', document) },
                  },
                ]),
          ],
        },
      ];
    }
    case 'assistant':
      return [turn.answer.turn as ChatCompletionMessageParam];
    case 'tool':
      return turn.results.map(({ id, text }) => ({ role: 'tool', tool_call_id: id, content: text }));
  }
}

/** Chat completions of the official SDK. */
export const OPENAI_CHAT: MatrixClient = {
  name: 'openai, chat completions',
  wire: 'openai',
  async ask(server, asked) {
    const { tools = [], isStructured, isStreamed, model = 'scripted', signal } = asked;
    const client = connect(server, asked);
    const json_schema = { name: 'place', schema: SCHEMA, strict: true };
    const body: ChatCompletionCreateParamsNonStreaming = {
      model,
      messages: asked.turns.flatMap(toMessages),
      ...(tools.length > 0 && {
        tools: tools.map((name) => ({ type: 'function' as const, function: tool(name) })),
      }),
      ...(isStructured && { response_format: { type: 'json_schema' as const, json_schema } }),
    };
    const options = signal === undefined ? {} : { signal };
    if (!isStreamed) return readCompletion(await client.chat.completions.create(body, options), 1);
    const stream = client.chat.completions.stream(
      { ...body, stream: true, stream_options: { include_usage: true } },
      options,
    );
    let pieces = 0;
    stream.on('content', () => {
      pieces += 1;
    });
    return readCompletion(await stream.finalChatCompletion(), pieces);
  },
};

function readCompletion({ choices, usage }: ChatCompletion, pieces: number): Answer {
  const message = choices[0]?.message;
  if (message === undefined || usage === undefined) throw new Error('no answer');
  const { cached_tokens: cachedInput, cache_write_tokens: cacheWrite } = usage.prompt_tokens_details ?? {};
  const text = message.content ?? '';
  return {
    text,
    pieces,
    calls: (message.tool_calls ?? []).flatMap((call) =>
      call.type === 'function'
        ? [{ id: call.id, name: call.function.name, input: JSON.parse(call.function.arguments) }]
        : [],
    ),
    value: parse(text),
    usage: {
      input: usage.prompt_tokens,
      output: usage.completion_tokens,
      cachedInput,
      cacheWrite,
      reasoning: usage.completion_tokens_details?.reasoning_tokens,
    },
    turn: message,
  };
}

function toItems(turn: Turn): ResponseInputItem[] {
  switch (turn.role) {
    case 'user': {
      const { text, image, document } = turn;
      return [
        {
          role: 'user',
          content: [
            { type: 'input_text', text },
            ...(image === undefined
              ? []
              : [
                  {
                    type: 'input_image' as const,
                    detail: 'auto' as const,
                    image_url: toDataUrl('image/png', image),
                  },
                ]),
            ...(document === undefined
              ? []
              : [
                  {
                    type: 'input_file' as const,
                    filename: 'a.pdf',
                    file_data: toDataUrl('application/pdf', document),
                  },
                ]),
          ],
        },
      ];
    }
    case 'assistant':
      return turn.answer.turn as ResponseInputItem[];
    case 'tool':
      return turn.results.map(({ id, text }) => ({
        type: 'function_call_output',
        call_id: id,
        output: text,
      }));
  }
}

/** Responses of the official SDK, without storage. */
export const OPENAI_RESPONSES: MatrixClient = {
  name: 'openai, responses',
  wire: 'openai',
  async ask(server, asked) {
    const { tools = [], isStructured, isStreamed, model = 'scripted', signal } = asked;
    const client = connect(server, asked);
    const body: ResponseCreateParamsNonStreaming = {
      model,
      input: asked.turns.flatMap(toItems),
      store: false,
      include: ['reasoning.encrypted_content'],
      ...(tools.length > 0 && { tools: tools.map((name) => ({ type: 'function' as const, ...tool(name) })) }),
      ...(isStructured && {
        text: { format: { type: 'json_schema' as const, name: 'place', schema: SCHEMA, strict: true } },
      }),
    };
    const options = signal === undefined ? {} : { signal };
    if (!isStreamed) return readResponse(await client.responses.create(body, options), 1);
    const stream = client.responses.stream({ ...body, stream: true }, options);
    let pieces = 0;
    stream.on('response.output_text.delta', () => {
      pieces += 1;
    });
    return readResponse(await stream.finalResponse(), pieces);
  },
};

function readResponse({ output, output_text: text, usage }: Response, pieces: number): Answer {
  if (usage === undefined) throw new Error('no usage');
  return {
    text,
    pieces,
    calls: output.flatMap((item) =>
      item.type === 'function_call'
        ? [{ id: item.call_id, name: item.name, input: JSON.parse(item.arguments) }]
        : [],
    ),
    value: parse(text),
    usage: {
      input: usage.input_tokens,
      output: usage.output_tokens,
      cachedInput: usage.input_tokens_details.cached_tokens,
      cacheWrite: usage.input_tokens_details.cache_write_tokens,
      reasoning: usage.output_tokens_details.reasoning_tokens,
    },
    turn: output,
  };
}

function parse(text: string): unknown {
  return text.startsWith('{') ? JSON.parse(text) : undefined;
}
