import * as z from 'zod';
import { defineOperation } from '../operation.ts';

/** Inputs times dimensions of one call. */
export const MOST_NUMBERS = 196_608;
/** Of all inputs together. */
export const MOST_TOKENS = 300_000;

const body = z.strictObject({
  model: z.string().meta({ description: 'An embedding model.' }),
  input: z.union([z.string(), z.array(z.string()).min(1).max(2048)], {
    error: 'expected text, or a list of 1 to 2048 texts',
  }),
  dimensions: z
    .number()
    .int()
    .gt(0)
    .optional()
    .meta({ description: "Length of each vector. Default: the model's own." }),
  encoding_format: z.enum(['float', 'base64']).default('float').meta({
    description: '`base64`: the vector as 32-bit floats, lowest byte first.',
  }),
});

const embedding = z.object({
  object: z.literal('embedding'),
  index: z.number().int().min(0),
  embedding: z.union([z.array(z.number()), z.string()]),
});

const embeddings = z.object({
  object: z.literal('list'),
  data: z.array(embedding).meta({ description: 'In the order of the inputs.' }),
  model: z.string(),
  usage: z.object({
    prompt_tokens: z.number().int().min(0),
    total_tokens: z.number().int().min(0),
  }),
});

export type EmbeddingsBody = z.output<typeof body>;

export const createEmbeddings = defineOperation({
  id: 'createEmbeddings',
  method: 'POST',
  path: '/api/v1/embeddings',
  tag: 'AI',
  summary: 'Turn texts into vectors that are near each other when the texts mean the same',
  description: `At most ${MOST_TOKENS} tokens of input, and ${MOST_NUMBERS} numbers of output, in one call: more is 422 \`limit_exceeded\`.`,
  auth: 'key-or-token',
  scopes: ['ai:generate'],
  rate: { key: 'standard', user: 'unlimited' },
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
