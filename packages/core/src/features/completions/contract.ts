import * as z from 'zod';
import { isBase64 } from '../../contract/base64.ts';
import { jsonObject, list } from '../../contract/lists.ts';
import { defineOperation } from '../../contract/operation.ts';
import { text } from '../../contract/text.ts';
import { completionEvent } from './events.ts';
import { modelOptions } from './options.ts';

/** 25 MiB: conversations carry images. */
const BODY_LIMIT = 25 * 2 ** 20;

const MAX_MESSAGES = 10_000;
/** Maximum parts of one message, or of one tool's result. */
const MAX_PARTS = 2000;
const MAX_OFFERED_TOOLS = 512;
/** Maximum top-level fields of a tool's input or schema. */
const MAX_PROPERTIES = 10_000;

const MAX_BLOCK_FIELDS = 100;

/** A cache breakpoint: the prompt up to here is worth caching. Replaces the automatic breakpoints. */
const cacheControl = z
  .object({ type: z.literal('ephemeral').describe('The only kind of cache breakpoint.') })
  .optional();

const textPart = z.object({
  type: z.literal('text').describe('Marks a text part.'),
  text: z.string().describe('The text.'),
  cache_control: cacheControl.describe(
    'A cache breakpoint: the prompt up to here is worth caching. Replaces the automatic breakpoints.',
  ),
});

const base64Source = z.object({
  type: z.literal('base64').describe('The only kind of source: the bytes in the request.'),
  media_type: z
    .enum(['image/png', 'image/jpeg', 'image/webp', 'image/gif'])
    .describe('The media type of the image.'),
  data: z
    .string()
    .refine(isBase64, 'expected base64')
    .meta({ minLength: 1, contentEncoding: 'base64' })
    .describe('The bytes of the image in base64.'),
});

const imagePart = z.object({
  type: z.literal('image').describe('Marks an image.'),
  source: base64Source.describe('The bytes of the image.'),
  cache_control: cacheControl.describe(
    'A cache breakpoint: the prompt up to here is worth caching. Replaces the automatic breakpoints.',
  ),
});

const DATA_URL_START = /^data:image\/(?:png|jpeg|webp|gif);base64,/;

function isImageDataUrl(url: string): boolean {
  const [start] = DATA_URL_START.exec(url.slice(0, 30)) ?? [];
  return start !== undefined && isBase64(url.slice(start.length));
}

const dataUrl = z
  .string()
  .refine(
    isImageDataUrl,
    'expected a data URL of a png, jpeg, webp or gif image in base64; URLs are not fetched',
  )
  .meta({ pattern: '^data:image\\/(?:png|jpeg|webp|gif);base64,[A-Za-z0-9+\\/]+={0,2}$' });

const imageUrlPart = z.object({
  type: z.literal('image_url').describe('Marks an image in the shape of another dialect.'),
  image_url: z
    .object({ url: dataUrl.describe('A data URL with the bytes of the image. Other URLs are refused.') })
    .describe('The image.'),
});

const inputImagePart = z.object({
  type: z.literal('input_image').describe('Marks an image in the shape of another dialect.'),
  image_url: dataUrl.describe('A data URL with the bytes of the image. Other URLs are refused.'),
});

const toolUsePart = z.object({
  type: z.literal('tool_use').describe('Marks a tool call of the model, in an assistant message.'),
  id: z.string().min(1).describe('The id of the tool call.'),
  name: z.string().min(1).describe('The name of the called tool.'),
  input: jsonObject(MAX_PROPERTIES).describe('The arguments of the call.'),
});

const toolResultPart = z.object({
  type: z.literal('tool_result').describe('Marks the result of a tool call, in a user message.'),
  tool_use_id: z.string().min(1).describe('The id of the tool call that this result answers.'),
  content: z.union([z.string(), list(textPart, { max: MAX_PARTS })]).describe('The result, for the model.'),
  is_error: z.boolean().optional().describe('Whether the tool failed.'),
  cache_control: cacheControl.describe(
    'A cache breakpoint: the prompt up to here is worth caching. Replaces the automatic breakpoints.',
  ),
});

const thinkingPart = z
  .looseObject({
    type: z
      .enum(['thinking', 'redacted_thinking'])
      .describe('Marks reasoning of an earlier answer. Send it back as it came, with all its fields.'),
  })
  .refine(
    (block) => Object.keys(block).length <= MAX_BLOCK_FIELDS,
    `expected at most ${MAX_BLOCK_FIELDS} fields`,
  )
  .meta({ maxProperties: MAX_BLOCK_FIELDS });

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
  role: z.enum(['user', 'assistant', 'system']).describe('Who speaks. `system` messages give instructions.'),
  content: z
    .union([z.string(), list(contentPart, { max: MAX_PARTS })])
    .describe('The text, or a list of parts.'),
});

const tool = z.object({
  toolSchema: z
    .object({
      name: text({ min: 1, max: 128 }).describe('The name of the function.'),
      description: z.string().describe('What the function does and when to call it, for the model.'),
      parameters: jsonObject(MAX_PROPERTIES).meta({ description: 'A JSON Schema of type object.' }),
    })
    .describe('The function that the model can call.'),
});

const temperature = z.number().min(0).max(1);
const maxTokens = z.number().int().min(1);

const responseFormat = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('text').describe('The format of the answer: text, any JSON object, or JSON of a schema.'),
  }),
  z.object({
    type: z
      .literal('json_object')
      .describe('The format of the answer: text, any JSON object, or JSON of a schema.'),
  }),
  z.object({
    type: z
      .literal('json_schema')
      .describe('The format of the answer: text, any JSON object, or JSON of a schema.'),
    json_schema: z
      .object({
        name: text({ min: 1, max: 64 }).describe('A name for the schema.'),
        schema: jsonObject(MAX_PROPERTIES).describe('A JSON Schema of type object.'),
      })
      .describe('The schema of the answer.'),
  }),
]);

const thinking = z.object({
  enabled: z.boolean().describe('Whether the model reasons before it answers.'),
  budget_tokens: z
    .number()
    .int()
    .min(1)
    .max(32_000)
    .optional()
    .describe('The maximum number of tokens for reasoning.'),
});

const outputCap = maxTokens.optional().meta({
  description:
    'Output tokens, reasoning included; lowered to the maximum of the model. Default: depends on the model.',
});

// Unknown names are kept until the `meta` event, which lists them.
const options = z.looseObject({
  temperature: temperature
    .optional()
    .describe('The sampling temperature. Lower values give more predictable answers.'),
  maxTokens: outputCap,
  max_tokens: maxTokens.optional().describe('Another spelling of `maxTokens`.'),
  stream: z.boolean().optional().meta({ description: 'Ignored: the answer always streams.' }),
  tools: list(tool, { max: MAX_OFFERED_TOOLS }).optional().describe('The functions that the model can call.'),
  response_format: responseFormat.optional().describe('The format of the answer. Default: text.'),
  thinking: thinking
    .optional()
    .describe('Whether and how long the model reasons. Ignored by models without reasoning.'),
  ...modelOptions,
});

const body = z.looseObject({
  model: z.string().min(1).describe('The id of a chat model.'),
  messages: list(message, { min: 1, max: MAX_MESSAGES }).describe('The conversation, oldest message first.'),
  options: options
    .optional()
    .describe('Options of the model. Options beside `messages` mean the same; `options` wins.'),
  stream: z.boolean().optional().describe('Ignored: the answer always streams.'),
  store: z
    .boolean()
    .optional()
    .describe(
      'Whether the answer is stored for 24 hours under its `X-Request-ID`. It continues when its client disconnects, and `getCompletionEvents` resumes it. Default false.',
    ),
  tools: list(tool, { max: MAX_OFFERED_TOOLS }).optional().describe('The functions that the model can call.'),
  temperature: temperature
    .optional()
    .describe('The sampling temperature. Lower values give more predictable answers.'),
  max_tokens: outputCap,
  response_format: responseFormat.optional().describe('The format of the answer. Default: text.'),
  thinking: thinking
    .optional()
    .describe('Whether and how long the model reasons. Ignored by models without reasoning.'),
  ...modelOptions,
});

/** Limits of the list: number of names, and characters of each. */
const MAX_IGNORED = 20;
const MAX_IGNORED_CHARACTERS = 64;

/** Field names in the request that have no meaning here. */
export function ignoredNames(request: CompletionBody): readonly string[] {
  const names = unknownNames(request, body.shape);
  if (request.options !== undefined) {
    for (const name of unknownNames(request.options, options.shape)) names.push(`options.${name}`);
  }
  if (names.length === 0) return names;
  return names.slice(0, MAX_IGNORED).map((name) => name.slice(0, MAX_IGNORED_CHARACTERS));
}

function unknownNames(value: object, shape: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(value).filter((name) => !(name in shape));
}

export type CompletionBody = z.output<typeof body>;
export type CompletionMessage = z.output<typeof message>;
export type CompletionPart = z.output<typeof contentPart>;

export const createCompletion = defineOperation({
  id: 'createCompletion',
  paid: true,
  method: 'POST',
  path: '/api/ai/v1/completions',
  tag: 'AI',
  summary: 'Stream a completion',
  description:
    'Answers with server-sent events: `data:` lines of JSON of type `meta`, `content`, `reasoning`, `tool_use_delta`, `tool_use` or `error`, then ' +
    '`data: [DONE]`. The `meta` event reports the output cap (`maxTokens`) when the request exceeds the maximum of the ' +
    'model, and the ignored fields of the request (`ignored`): unknown names, and options that the model does not have. Ignore types that you do not know. Credits are reserved before the model is called and settled to the actual usage afterwards.',
  auth: 'key-or-token',
  scopes: ['ai:chat', 'ai:generate'],
  rate: { key: 'standard', user: 'completions' },
  owner: 'none',
  family: 'completions',
  bodyLimit: BODY_LIMIT,
  idempotent: true,
  input: { body },
  output: {
    200: {
      description: 'The event stream.',
      contentType: 'text/event-stream',
      schema: completionEvent,
      headers: {
        'X-Accel-Buffering': '`no`: proxies must not buffer the stream.',
        'Idempotent-Replayed': '`true` for the first answer of a repeated `Idempotency-Key`, else absent.',
      },
    },
  },
  refusals: [
    {
      status: 409,
      description:
        'With `store`: the caller has stored a completion with this `X-Request-ID`. With `Idempotency-Key`: the first request ' +
        'with the key still runs, or was charged and broke off, or its answer was too large to keep.',
    },
    {
      status: 503,
      description: 'The provider is overloaded or has no key; retry after `Retry-After`.',
    },
  ],
});
