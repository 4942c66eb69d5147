import * as z from 'zod';
import { list } from '../../contract/lists.ts';
import { defineOperation } from '../../contract/operation.ts';

const MAX_MESSAGES = 10_000;

export const infer = defineOperation({
  id: 'infer',
  paid: true,
  method: 'POST',
  path: '/api/infer',
  summary: 'Generate text; the response carries the whole answer',
  description: 'Asks a model once, without a session and without tools. Use `createCompletion` to stream.',
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application-ai' },
  owner: 'none',
  family: 'application',
  tag: 'Models',
  input: {
    body: z.object({
      model: z.string().describe('The id of a chat model.'),
      messages: list(
        z.object({
          role: z
            .enum(['user', 'assistant', 'system'])
            .describe('Who speaks. `system` messages give instructions.'),
          content: z.string().describe('The text of the message.'),
        }),
        {
          min: 1,
          max: MAX_MESSAGES,
        },
      ).describe('The conversation, oldest message first.'),
      stream: z.boolean().optional().meta({ description: 'Ignored.' }),
    }),
  },
  output: {
    200: {
      description: 'The answer.',
      schema: z.object({ result: z.string().describe('The answer of the model.') }),
    },
  },
  refusals: [
    { status: 422, description: 'The model is unknown; INSUFFICIENT_CREDITS.' },
    { status: 502, description: 'PROVIDER_ERROR: the model provider failed.' },
    { status: 503, description: 'PROVIDER_ERROR: it is overloaded or has no key.' },
  ],
});
