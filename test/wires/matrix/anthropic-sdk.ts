import Anthropic from '@anthropic-ai/sdk';
import type {
  Message,
  MessageCreateParamsNonStreaming,
  MessageParam,
} from '@anthropic-ai/sdk/resources/messages';
import { type Answer, type MatrixClient, SCHEMA, type Turn } from './client.ts';

function toMessage(turn: Turn): MessageParam {
  switch (turn.role) {
    case 'user': {
      const { text, image, document } = turn;
      return {
        role: 'user',
        content: [
          ...(image === undefined
            ? []
            : [
                {
                  type: 'image' as const,
                  source: { type: 'base64' as const, media_type: 'image/png' as const, data: image },
                },
              ]),
          ...(document === undefined
            ? []
            : [
                {
                  type: 'document' as const,
                  source: { type: 'base64' as const, media_type: 'application/pdf' as const, data: document },
                },
              ]),
          { type: 'text', text },
        ],
      };
    }
    case 'assistant':
      return { role: 'assistant', content: turn.answer.turn as MessageParam['content'] };
    case 'tool':
      return {
        role: 'user',
        content: turn.results.map(({ id, text }) => ({
          type: 'tool_result',
          tool_use_id: id,
          content: text,
        })),
      };
  }
}

/** Messages of the official SDK. */
export const ANTHROPIC: MatrixClient = {
  name: '@anthropic-ai/sdk',
  wire: 'anthropic',
  async ask({ baseURL, key }, asked) {
    const { tools = [], isStructured, isStreamed, model = 'scripted', signal } = asked;
    const client = new Anthropic({ baseURL, apiKey: asked.key ?? key, maxRetries: asked.maxRetries ?? 0 });
    const body: MessageCreateParamsNonStreaming = {
      model,
      max_tokens: 200,
      messages: asked.turns.map(toMessage),
      ...(tools.length > 0 && {
        tools: tools.map((name) => ({ name, description: `The ${name} of a city`, input_schema: SCHEMA })),
      }),
      ...(isStructured && { output_config: { format: { type: 'json_schema' as const, schema: SCHEMA } } }),
      ...(asked.reasons && { thinking: { type: 'adaptive' as const } }),
    };
    const options = signal === undefined ? {} : { signal };
    if (!isStreamed) return readMessage(await client.messages.create(body, options), 1);
    const stream = client.messages.stream(body, options);
    let pieces = 0;
    stream.on('text', () => {
      pieces += 1;
    });
    return readMessage(await stream.finalMessage(), pieces);
  },
};

function readMessage({ content, usage }: Message, pieces: number): Answer {
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
  const { cache_read_input_tokens: cachedInput, cache_creation_input_tokens: cacheWrite } = usage;
  return {
    text,
    pieces,
    calls: content.flatMap((block) =>
      block.type === 'tool_use' ? [{ id: block.id, name: block.name, input: block.input }] : [],
    ),
    value: text.startsWith('{') ? JSON.parse(text) : undefined,
    usage: {
      input: usage.input_tokens + (cachedInput ?? 0) + (cacheWrite ?? 0),
      output: usage.output_tokens,
      cachedInput: cachedInput ?? undefined,
      cacheWrite: cacheWrite ?? undefined,
      reasoning: usage.output_tokens_details?.thinking_tokens,
    },
    turn: content,
  };
}
