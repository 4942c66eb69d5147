import { defineOperation } from '@questline/core';
import { jsonObject, list, text } from '@questline/core/internal';
import * as z from 'zod';
import { openAIErrors } from '../errors.ts';

/*
 * Chat completions by the types of the npm package `openai` 7.57.0 (13 November 2026):
 * https://developers.openai.com/api/reference/resources/chat/completions
 * Fields that are not listed are ignored. `request.ts` refuses those that would change the answer.
 */

/** 25 MiB: conversations carry images. */
const BODY_LIMIT = 25 * 2 ** 20;
const MAX_MESSAGES = 10_000;
const MAX_PARTS = 2000;
const MAX_TOOLS = 512;
const MAX_PROPERTIES = 10_000;
const MAX_STOPS = 8;
const MAX_BLOCK_FIELDS = 100;

const textPart = z.object({ type: z.literal('text'), text: z.string() });

const imagePart = z.object({
  type: z.literal('image_url'),
  image_url: z.object({ url: z.string().min(1) }),
});

const filePart = z.object({
  type: z.literal('file'),
  file: z.object({
    file_data: z.string().nullish(),
    file_id: z.string().nullish(),
    filename: z.string().nullish(),
  }),
});

const audioPart = z.object({ type: z.literal('input_audio') });

const texts = z.union([z.string(), list(textPart, { max: MAX_PARTS })]);

const instructions = z.object({ role: z.enum(['system', 'developer']), content: texts });

const user = z.object({
  role: z.literal('user'),
  content: z.union([
    z.string(),
    list(z.discriminatedUnion('type', [textPart, imagePart, filePart, audioPart]), { max: MAX_PARTS }),
  ]),
});

const toolCall = z.object({
  id: z.string().min(1),
  type: z.literal('function').default('function'),
  function: z.object({ name: text({ min: 1, max: 128 }), arguments: z.string() }),
});

/** Reasoning of an earlier answer. Clients send it back unchanged. */
const block = jsonObject(MAX_BLOCK_FIELDS).refine(
  (value) => typeof value.type === 'string',
  'expected a block with a type',
);

const assistant = z.object({
  role: z.literal('assistant'),
  content: z
    .union([
      z.string(),
      list(
        z.discriminatedUnion('type', [
          textPart,
          z.object({ type: z.literal('refusal'), refusal: z.string() }),
        ]),
        { max: MAX_PARTS },
      ),
    ])
    .nullish(),
  refusal: z.string().nullish(),
  tool_calls: list(toolCall, { max: MAX_TOOLS }).nullish(),
  function_call: z.unknown().optional(),
  audio: z.unknown().optional(),
  reasoning_details: list(block, { max: MAX_PARTS }).nullish(),
});

const toolResult = z.object({ role: z.literal('tool'), tool_call_id: z.string().min(1), content: texts });

const message = z.discriminatedUnion('role', [instructions, user, assistant, toolResult]);

const tool = z.object({
  type: z.literal('function'),
  function: z.object({
    name: text({ min: 1, max: 128 }),
    description: z.string().nullish(),
    parameters: jsonObject(MAX_PROPERTIES).nullish(),
  }),
});

const toolChoice = z.union([
  z.enum(['none', 'auto', 'required']),
  z.object({ type: z.literal('function'), function: z.object({ name: text({ min: 1, max: 128 }) }) }),
]);

const responseFormat = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text') }),
  z.object({ type: z.literal('json_object') }),
  z.object({
    type: z.literal('json_schema'),
    json_schema: z.object({
      name: text({ min: 1, max: 64 }),
      schema: jsonObject(MAX_PROPERTIES).nullish(),
      strict: z.boolean().nullish(),
    }),
  }),
]);

const stop = text({ min: 1, max: 200 });
const tokens = z.int().min(1);

const body = z.looseObject({
  model: z.string().min(1),
  messages: list(message, { min: 1, max: MAX_MESSAGES }),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  max_completion_tokens: tokens.nullish(),
  max_tokens: tokens.nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  stop: z.union([stop, list(stop, { max: MAX_STOPS })]).nullish(),
  seed: z.int().nullish(),
  tools: list(tool, { max: MAX_TOOLS }).nullish(),
  tool_choice: toolChoice.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  response_format: responseFormat.nullish(),
  reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).nullish(),
  n: z.int().min(1).nullish(),
});

export type ChatBody = z.output<typeof body>;
export type ChatMessage = z.output<typeof message>;
export type FilePart = z.output<typeof filePart>;
export type UserMessage = z.output<typeof user>;
export type AssistantMessage = z.output<typeof assistant>;

export const createChatCompletion = defineOperation({
  id: 'createChatCompletion',
  paid: true,
  method: 'POST',
  path: '/v1/chat/completions',
  counterpart: 'createCompletion',
  summary: 'Create a chat completion',
  auth: 'key-or-token',
  scopes: ['ai:chat', 'ai:generate'],
  rate: { key: 'standard', user: 'completions' },
  owner: 'none',
  family: 'public',
  errorFormat: openAIErrors,
  bodyLimit: BODY_LIMIT,
  idempotent: true,
  input: { body },
  output: { 200: { description: 'The answer, or its stream.' } },
});
