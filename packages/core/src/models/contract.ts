import * as z from 'zod';
import { pageQuery } from '../http/cursor.ts';
import { defineOperation } from '../operation.ts';

const imageAbilities = z.object({
  sizing: z.looseObject({ kind: z.enum(['presets', 'dimensions', 'aspect_ratio', 'input_image', 'fixed']) }),
  supports: z.object({
    transparent_background: z.boolean(),
    seed: z.boolean(),
    qualities: z.array(z.string()),
    max_images: z.number().int(),
    max_reference_images: z.number().int(),
    edit: z.boolean(),
    requires_input_image: z.boolean(),
  }),
});

const model = z.object({
  id: z.string(),
  name: z.string(),
  type: z.enum(['text', 'image', 'speech-to-text', 'video']),
  backend: z.string().meta({ description: 'The provider that serves it.' }),
  description: z.string().nullable(),
  context_window: z.number().int().meta({ description: 'Tokens.' }),
  max_output_tokens: z.number().int().meta({ description: 'Tokens.' }),
  supports_streaming: z.boolean(),
  supports_thinking: z.boolean(),
  supports_tools: z.boolean(),
  supports_vision: z.boolean(),
  deprecation_date: z.string().nullable(),
  replaced_by: z.string().nullable(),
  image: imageAbilities.nullable(),
});

const models = z.object({ data: z.array(model), next_cursor: z.string().nullable() });

const applicationModel = z.object({
  id: z.string(),
  type: z.string(),
  name: z.string(),
  backend: z.string(),
  contextWindow: z.number().int(),
  max_tokens: z.number().int(),
  can_stream: z.boolean(),
  can_think: z.boolean(),
  supportsVision: z.boolean(),
  supportsTools: z.boolean(),
  supportsImageVariation: z.boolean(),
  pricing: z
    .object({ '0': z.object({ input: z.number(), output: z.number() }) })
    .meta({ description: 'USD per million tokens.' }),
  deprecationDate: z.string().optional(),
  description: z.string().optional(),
});

export type WireModel = z.input<typeof model>;
export type ApplicationModel = z.input<typeof applicationModel>;

export const listModels = defineOperation({
  id: 'listModels',
  method: 'GET',
  path: '/api/v1/models',
  tag: 'AI',
  summary: 'List the models that can be used now',
  auth: 'key-or-token',
  scopes: ['ai:chat', 'ai:generate'],
  rate: { key: 'day-exempt', user: 'unlimited' },
  owner: 'none',
  family: 'public',
  input: { query: pageQuery },
  output: { 200: { description: 'The models.', schema: models } },
});

/** The self-host list. Not part of the published description. */
export const listApplicationModels = defineOperation({
  id: 'listApplicationModels',
  method: 'GET',
  path: '/api/models',
  summary: 'List the models that can be used now, with prices',
  auth: 'key-or-token',
  scopes: ['ai:chat', 'ai:generate'],
  rate: { key: 'standard', user: 'unlimited' },
  owner: 'none',
  family: 'public',
  input: {},
  output: { 200: { description: 'The models.', schema: z.object({ models: z.array(applicationModel) }) } },
});
