import * as z from 'zod';
import { list } from '../../contract/lists.ts';
import { defineOperation } from '../../contract/operation.ts';

/** Maximum inputs times dimensions of one call. */
export const MAX_NUMBERS = 196_608;
/** Maximum tokens of all inputs together. */
export const MAX_TOKENS = 300_000;

const body = z.strictObject({
  model: z.string().meta({ description: 'An embedding model.' }),
  input: z
    .union([z.string(), list(z.string(), { min: 1, max: 2048 })], {
      error: 'expected text, or a list of 1 to 2048 texts',
    })
    .describe('The text, or a list of texts, to embed.'),
  dimensions: z
    .number()
    .int()
    .gt(0)
    .optional()
    .meta({ description: "Length of each vector. Default: the model's default." }),
  encoding_format: z.enum(['float', 'base64']).default('float').meta({
    description: '`base64`: the vector as little-endian 32-bit floats.',
  }),
});

const embedding = z.object({
  object: z.literal('embedding').describe('The kind of the object.'),
  index: z.number().int().min(0).describe('The position of the text in `input`.'),
  embedding: z
    .union([z.array(z.number()), z.string()])
    .describe(
      'The vector: numbers, or their little-endian 32-bit floats in base64 when `encoding_format` is `base64`.',
    ),
});

const embeddings = z.object({
  object: z.literal('list').describe('The kind of the object.'),
  data: z.array(embedding).meta({ description: 'In the order of the inputs.' }),
  model: z.string().describe('The id of the model that made the vectors.'),
  usage: z
    .object({
      prompt_tokens: z.number().int().min(0).describe('The tokens of all texts.'),
      total_tokens: z.number().int().min(0).describe('The same as `prompt_tokens`.'),
    })
    .describe('The billed tokens.'),
});

export type EmbeddingsBody = z.output<typeof body>;

export const createEmbeddings = defineOperation({
  id: 'createEmbeddings',
  paid: true,
  method: 'POST',
  path: '/api/v1/embeddings',
  tag: 'AI',
  summary: 'Create embeddings',
  description: `At most ${MAX_TOKENS} tokens of input, and ${MAX_NUMBERS} numbers of output, in one call: more is 422 \`limit_exceeded\`.`,
  auth: 'key-or-token',
  scopes: ['ai:generate'],
  rate: { key: 'standard', user: 'standard' },
  owner: 'none',
  family: 'public',
  input: { body },
  output: { 200: { description: 'A vector for each input.', schema: embeddings } },
  refusals: [
    { status: 502, description: 'The model provider failed.' },
    {
      status: 503,
      description: 'The model provider is overloaded or has no key, or the service is about to restart.',
    },
  ],
});
