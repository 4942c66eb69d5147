import { defineOperation } from '@questline/core';
import { jsonObject, list, text } from '@questline/core/internal';
import * as z from 'zod';
import { openAIErrors } from '../errors.ts';
import { inputItem } from './contract-items.ts';
import { MAX_TOOLS, tool } from './contract-tools.ts';

/*
 * Responses by the types of the npm package `openai` 7.57.0 (13 November 2026):
 * https://developers.openai.com/api/reference/resources/responses
 * Fields that are not listed are ignored. `refusals.ts` refuses those that would change the answer.
 */

/** 25 MiB: conversations carry images. */
export const BODY_LIMIT = 25 * 2 ** 20;
const MAX_ITEMS = 10_000;
const MAX_PROPERTIES = 10_000;
const MAX_METADATA = 16;
const MAX_INCLUDES = 20;

const name = text({ min: 1, max: 128 });

const chosenTool = z.looseObject({
  type: z.string(),
  name: name.nullish(),
  server_label: name.optional(),
});

const toolChoice = z.union([
  z.enum(['none', 'auto', 'required']),
  z.looseObject({
    type: z.string(),
    name: name.nullish(),
    server_label: name.optional(),
    mode: z.enum(['auto', 'required']).optional(),
    tools: list(chosenTool, { max: MAX_TOOLS }).optional(),
  }),
]);

const format = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text') }),
  z.object({ type: z.literal('json_object') }),
  z.object({
    type: z.literal('json_schema'),
    name: text({ min: 1, max: 64 }),
    description: z.string().nullish(),
    schema: jsonObject(MAX_PROPERTIES),
    strict: z.boolean().nullish(),
  }),
]);

export const metadata = z
  .record(z.string().max(64), z.string().max(512))
  .refine((value) => Object.keys(value).length <= MAX_METADATA, `expected at most ${MAX_METADATA} pairs`);

const body = z.looseObject({
  model: z.string().min(1),
  input: z.union([z.string(), list(inputItem, { min: 1, max: MAX_ITEMS })]),
  instructions: z.string().nullish(),
  stream: z.boolean().nullish(),
  store: z.boolean().nullish(),
  background: z.boolean().nullish(),
  conversation: z
    .union([z.string().min(1).max(200), z.looseObject({ id: z.string().min(1).max(200) })])
    .nullish(),
  previous_response_id: z.string().min(1).max(200).nullish(),
  include: list(z.string(), { max: MAX_INCLUDES }).nullish(),
  max_output_tokens: z.int().min(1).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  tools: list(tool, { max: MAX_TOOLS }).nullish(),
  tool_choice: toolChoice.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  max_tool_calls: z.int().min(1).nullish(),
  reasoning: z
    .looseObject({
      effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).nullish(),
      summary: z.string().max(64).nullish(),
    })
    .nullish(),
  text: z.looseObject({ format: format.nullish() }).nullish(),
  metadata: metadata.nullish(),
});

export type ResponseBody = z.output<typeof body>;

export const createResponse = defineOperation({
  id: 'createResponse',
  paid: true,
  method: 'POST',
  path: '/v1/responses',
  counterpart: 'createCompletion',
  summary: 'Create a response',
  auth: 'key-or-token',
  scopes: ['ai:chat', 'ai:generate'],
  rate: { key: 'standard', user: 'completions' },
  owner: 'none',
  family: 'public',
  errorFormat: openAIErrors,
  bodyLimit: BODY_LIMIT,
  idempotent: true,
  input: { body },
  output: { 200: { description: 'The response, or its stream.' } },
});
