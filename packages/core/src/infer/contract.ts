import * as z from 'zod';
import { defineOperation } from '../operation.ts';

export const infer = defineOperation({
  id: 'infer',
  method: 'POST',
  path: '/api/infer',
  summary: 'Ask a model, and get its whole answer as text',
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application-ai' },
  owner: 'none',
  family: 'application',
  input: {
    body: z.object({
      model: z.string(),
      messages: z
        .array(z.object({ role: z.enum(['user', 'assistant', 'system']), content: z.string() }))
        .min(1),
      stream: z.boolean().optional().meta({ description: 'Without effect.' }),
    }),
  },
  output: { 200: { description: 'The answer.', schema: z.object({ result: z.string() }) } },
  refusals: [
    { status: 422, description: 'The model is unknown; INSUFFICIENT_CREDITS.' },
    { status: 502, description: 'PROVIDER_ERROR: the model provider failed.' },
    { status: 503, description: 'PROVIDER_ERROR: it is overloaded or has no key.' },
  ],
});
