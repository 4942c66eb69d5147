import * as z from 'zod';
import { text } from '../http/text.ts';
import { defineOperation } from '../operation.ts';

/** 25 MiB: conversations carry images. */
const BODY_LIMIT = 25 * 2 ** 20;

const textPart = z.object({ type: z.literal('text'), text: z.string() });

const base64Source = z.object({
  type: z.literal('base64'),
  media_type: z.enum(['image/png', 'image/jpeg', 'image/webp', 'image/gif']),
  data: z.base64().min(1),
});

const imagePart = z.object({ type: z.literal('image'), source: base64Source });

const dataUrl = z
  .string()
  .regex(
    /^data:image\/(?:png|jpeg|webp|gif);base64,[A-Za-z0-9+/]+={0,2}$/,
    'expected a data URL of a png, jpeg, webp or gif image in base64; addresses are not fetched',
  );

const imageUrlPart = z.object({ type: z.literal('image_url'), image_url: z.object({ url: dataUrl }) });

const inputImagePart = z.object({ type: z.literal('input_image'), image_url: dataUrl });

const toolUsePart = z.object({
  type: z.literal('tool_use'),
  id: z.string().min(1),
  name: z.string().min(1),
  input: z.record(z.string(), z.unknown()),
});

const toolResultPart = z.object({
  type: z.literal('tool_result'),
  tool_use_id: z.string().min(1),
  content: z.union([z.string(), z.array(textPart)]),
  is_error: z.boolean().optional(),
});

const thinkingPart = z.looseObject({ type: z.enum(['thinking', 'redacted_thinking']) });

const contentPart = z.discriminatedUnion('type', [
  textPart,
  imagePart,
  imageUrlPart,
  inputImagePart,
  toolUsePart,
  toolResultPart,
  thinkingPart,
]);

const message = z.object({
  role: z.enum(['user', 'assistant', 'system']),
  content: z.union([z.string(), z.array(contentPart)]),
});

const tool = z.object({
  toolSchema: z.object({
    name: text({ min: 1, max: 128 }),
    description: z.string(),
    parameters: z.record(z.string(), z.unknown()).meta({ description: 'A JSON Schema of type object.' }),
  }),
});

const temperature = z.number().min(0).max(1);
const maxTokens = z.number().int().min(1);

const responseFormat = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text') }),
  z.object({ type: z.literal('json_object') }),
  z.object({
    type: z.literal('json_schema'),
    json_schema: z.object({
      name: text({ min: 1, max: 64 }),
      schema: z.record(z.string(), z.unknown()),
    }),
  }),
]);

const thinking = z.object({
  enabled: z.boolean(),
  budget_tokens: z.number().int().min(1).max(32_000).optional(),
});

const reasoningEffort = z.enum(['low', 'medium', 'high']);

const options = z.object({
  temperature: temperature.optional(),
  maxTokens: maxTokens
    .optional()
    .meta({ description: 'Default 4096, or the model maximum if that is less.' }),
  stream: z.boolean().optional().meta({ description: 'Without effect: the answer always streams.' }),
  tools: z.array(tool).optional(),
  response_format: responseFormat.optional(),
  reasoningEffort: reasoningEffort.optional(),
  thinking: thinking.optional(),
});

const body = z.object({
  model: z.string().min(1),
  messages: z.array(message).min(1),
  options: options.optional(),
  stream: z.boolean().optional(),
  tools: z.array(tool).optional(),
  temperature: temperature.optional(),
  max_tokens: maxTokens.optional(),
  response_format: responseFormat.optional(),
  reasoningEffort: reasoningEffort.optional(),
  thinking: thinking.optional(),
});

export type CompletionBody = z.output<typeof body>;
export type CompletionMessage = z.output<typeof message>;
export type CompletionPart = z.output<typeof contentPart>;

export const createCompletion = defineOperation({
  id: 'createCompletion',
  method: 'POST',
  path: '/api/ai/v1/completions',
  tag: 'AI',
  summary: 'Stream a completion',
  description:
    'Answers with server-sent events: `data:` lines of JSON of type `meta`, `content`, `tool_use` or `error`, then ' +
    '`data: [DONE]`. Credits are reserved before the model is called and settled to the actual usage afterwards.',
  auth: 'key-or-token',
  scopes: ['ai:chat', 'ai:generate'],
  rate: { key: 'standard', user: 'completions' },
  owner: 'none',
  family: 'completions',
  bodyLimit: BODY_LIMIT,
  input: { body },
  output: {
    200: { description: 'The stream of events.', contentType: 'text/event-stream' },
  },
  refusals: [
    {
      status: 503,
      description: 'The provider is overloaded or has no key; `Retry-After` says when to come back.',
    },
  ],
});
