import * as z from 'zod';
import { cursorPage, pageQuery } from '../../contract/cursor.ts';
import { defineOperation } from '../../contract/operation.ts';
import type { ModelInfo } from '../../ports/models.ts';

const imageAbilities = z.object({
  sizing: z
    .looseObject({
      kind: z
        .enum(['presets', 'dimensions', 'aspect_ratio', 'input_image', 'fixed'])
        .describe(
          'The way to choose a size: one of some presets, free dimensions, an aspect ratio, the size of the input image, or none.',
        ),
    })
    .describe('How the size of an image is chosen, with the possible values.'),
  supports: z
    .object({
      transparent_background: z.boolean().describe('Whether images can have a transparent background.'),
      seed: z.boolean().describe('Whether a seed makes images repeatable.'),
      qualities: z.array(z.string()).describe('The accepted values of `quality`.'),
      max_images: z.number().int().describe('The maximum number of images of one request.'),
      max_reference_images: z
        .number()
        .int()
        .describe('The maximum number of reference images of one request.'),
      edit: z.boolean().describe('Whether the model can edit images.'),
      requires_input_image: z.boolean().describe('Whether every request needs an input image.'),
    })
    .describe('What the image model can do.'),
});

/** The kinds of models, in the order of lists. */
const MODEL_KINDS = [
  'text',
  'image',
  'speech-to-text',
  'text-to-speech',
  'sound-effect',
  'music',
  'video',
  'embedding',
] as const satisfies readonly ModelInfo['type'][];

const model = z.object({
  id: z.string().describe('The id to pass as `model`.'),
  name: z.string().describe('The name of the model, for people.'),
  type: z.enum(MODEL_KINDS).describe('The kind of the model.'),
  backend: z.string().meta({ description: 'The provider that serves it.' }),
  description: z.string().nullable().describe('What the model is good for; null without a description.'),
  context_window: z.number().int().meta({ description: 'Tokens.' }),
  max_output_tokens: z.number().int().meta({ description: 'Tokens.' }),
  supports_streaming: z.boolean().describe('Whether answers can be streamed.'),
  supports_thinking: z.boolean().describe('Whether the model can reason before it answers.'),
  supports_tools: z.boolean().describe('Whether the model can call tools.'),
  supports_vision: z.boolean().describe('Whether the model understands images.'),
  deprecation_date: z.string().nullable().describe('The day of retirement; null without an announced one.'),
  replaced_by: z.string().nullable().describe('The id of the successor; null without a successor.'),
  image: imageAbilities.nullable().describe('The abilities of an image model; null for other kinds.'),
});

const models = cursorPage(model);

const applicationModel = z.object({
  id: z.string().describe('The id to pass as `model`.'),
  type: z.string().describe('The kind of the model.'),
  name: z.string().describe('The name of the model, for people.'),
  backend: z.string().describe('The provider that serves it.'),
  contextWindow: z.number().int().describe('The maximum length of prompt and answer together, in tokens.'),
  max_tokens: z.number().int().describe('The maximum length of the answer, in tokens.'),
  can_stream: z.boolean().describe('Whether answers can be streamed.'),
  can_think: z.boolean().describe('Whether the model can reason before it answers.'),
  supportsVision: z.boolean().describe('Whether the model understands images.'),
  supportsTools: z.boolean().describe('Whether the model can call tools.'),
  supportsImageVariation: z.boolean().describe('Whether the model can edit images.'),
  pricing: z
    .object({
      '0': z
        .object({
          input: z.number().describe('The price of a million input tokens, in USD.'),
          output: z.number().describe('The price of a million output tokens, in USD.'),
        })
        .describe('The prices of prompts of any length.'),
    })
    .meta({ description: 'USD per million tokens.' }),
  deprecationDate: z.string().optional().describe('The day of retirement. Absent: none is announced.'),
  replacedBy: z.string().optional().meta({ description: 'The successor of a model that retires.' }),
  description: z.string().optional().describe('What the model is good for.'),
});

export type WireModel = z.input<typeof model>;
export type ApplicationModel = z.input<typeof applicationModel>;

export const listModels = defineOperation({
  id: 'listModels',
  method: 'GET',
  path: '/api/v1/models',
  tag: 'AI',
  summary: 'List the available models',
  description:
    'Lists the models of providers with a key, cheapest capable model first. Filter with the query parameters; pass `next_cursor` as `cursor` to continue.',
  auth: 'key-or-token',
  scopes: ['ai:chat', 'ai:generate'],
  rate: { key: 'day-exempt', user: 'standard' },
  owner: 'none',
  family: 'public',
  input: { query: pageQuery },
  output: { 200: { description: 'The models.', schema: models } },
});

/** The list for self-hosted clients. Not part of the published OpenAPI description. */
export const listApplicationModels = defineOperation({
  id: 'listApplicationModels',
  method: 'GET',
  path: '/api/models',
  summary: 'List the available models, with prices',
  description: 'The list of the console: every model that the caller can use, in one answer.',
  auth: 'key-or-token',
  scopes: ['ai:chat', 'ai:generate'],
  rate: { key: 'standard', user: 'standard' },
  owner: 'none',
  family: 'public',
  tag: 'Models',
  side: 'application',
  input: {},
  output: {
    200: {
      description: 'The models.',
      schema: z.object({ models: z.array(applicationModel).describe('All models that the caller can use.') }),
    },
  },
});
