import { defineOperation } from '@questline/core';
import { jsonObject, list, text } from '@questline/core/internal';
import * as z from 'zod';
import { anthropicErrors } from '../errors.ts';
import { contentBlock, MAX_BLOCKS, MAX_PROPERTIES, textBlock } from './contract-blocks.ts';

/*
 * The messages API by the types of the npm package `@anthropic-ai/sdk` 1.12.0:
 * https://platform.claude.com/docs/en/api/messages
 * Fields that are not listed are ignored. `request.ts` refuses those that would change the answer.
 */

/** 32 MiB, as the vendor: conversations carry images and documents. */
const BODY_LIMIT = 32 * 2 ** 20;
const MAX_MESSAGES = 10_000;
const MAX_TOOLS = 1024;
const MAX_STOPS = 100;

const texts = z.union([z.string(), list(textBlock, { max: MAX_BLOCKS })]);

const message = z.discriminatedUnion('role', [
  z.object({
    role: z.enum(['user', 'assistant']),
    content: z.union([z.string(), list(contentBlock, { max: MAX_BLOCKS })]),
  }),
  /** Instructions between the turns. Without text: only a new effort. */
  z.object({
    role: z.literal('system'),
    content: texts,
    output_config: z.object({ effort: z.string().nullish() }).nullish(),
  }),
]);

/** Tools that the vendor runs or defines have another type, and are refused with their name. */
const tool = z.object({
  type: z.string().nullish(),
  name: text({ min: 1, max: 200 }).optional(),
  description: z.string().nullish(),
  input_schema: jsonObject(MAX_PROPERTIES).optional(),
  cache_control: z.unknown().optional(),
});

const oneByOne = { disable_parallel_tool_use: z.boolean().nullish() };

const toolChoice = z.discriminatedUnion('type', [
  z.object({ type: z.literal('auto'), ...oneByOne }),
  z.object({ type: z.literal('any'), ...oneByOne }),
  z.object({ type: z.literal('tool'), name: text({ min: 1, max: 200 }), ...oneByOne }),
  z.object({ type: z.literal('none') }),
]);

const jsonSchema = z.object({ type: z.literal('json_schema'), schema: jsonObject(MAX_PROPERTIES) });

const prompt = {
  model: z.string().min(1),
  messages: list(message, { min: 1, max: MAX_MESSAGES }),
  system: texts.nullish(),
  tools: list(tool, { max: MAX_TOOLS }).nullish(),
  tool_choice: toolChoice.nullish(),
  thinking: z.object({ type: text({ min: 1, max: 50 }), budget_tokens: z.int().min(1).nullish() }).nullish(),
};

const body = z.looseObject({
  ...prompt,
  max_tokens: z.int().min(1).nullish(),
  stream: z.boolean().nullish(),
  stop_sequences: list(text({ min: 1, max: 1000 }), { max: MAX_STOPS }).nullish(),
  temperature: z.number().min(0).max(1).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  top_k: z.int().min(0).nullish(),
  output_config: z.object({ effort: z.string().nullish(), format: jsonSchema.nullish() }).nullish(),
  /** The former place of `output_config.format`. */
  output_format: jsonSchema.nullish(),
});

export type MessagesBody = z.output<typeof body>;
export type RequestMessage = z.output<typeof message>;
export type CountTokensBody = z.output<typeof countBody>;

const countBody = z.looseObject(prompt);

const common = {
  method: 'POST',
  auth: 'key-or-token',
  scopes: ['ai:chat', 'ai:generate'],
  owner: 'none',
  family: 'public',
  errorFormat: anthropicErrors,
  bodyLimit: BODY_LIMIT,
} as const;

export const createMessage = defineOperation({
  ...common,
  id: 'createAnthropicMessage',
  paid: true,
  path: '/v1/messages',
  counterpart: 'createCompletion',
  summary: 'Create a message',
  rate: { key: 'standard', user: 'completions' },
  idempotent: true,
  input: { body },
  output: { 200: { description: 'The answer, or its stream.' } },
});

export const countTokens = defineOperation({
  ...common,
  id: 'countAnthropicTokens',
  path: '/v1/messages/count_tokens',
  counterpart: 'createCompletion',
  summary: 'Estimate the tokens of a message',
  rate: { key: 'standard', user: 'standard' },
  input: { body: countBody },
  output: { 200: { description: 'The estimate.' } },
});
