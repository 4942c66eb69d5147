import * as z from 'zod';
import { defineOperation } from '../operation.ts';
import { FETCH_INPUT, SEARCH_INPUT, WEATHER_INPUT } from './builtin/web.ts';

const body = z.discriminatedUnion('toolName', [
  z.object({ toolName: z.literal('weather_info'), input: WEATHER_INPUT }),
  z.object({ toolName: z.literal('web_search'), input: SEARCH_INPUT }),
  z.object({ toolName: z.literal('web_fetch'), input: FETCH_INPUT }),
]);

const success = z.object({
  success: z.literal(true),
  result: z.unknown(),
  content: z.string().meta({ description: 'The result as text.' }),
  executionTimeMs: z.number().int().min(0),
  request_id: z.string(),
});

const failure = z.object({
  success: z.literal(false),
  error: z.string(),
  errorType: z.enum([
    'INVALID_INPUT',
    'API_KEY_MISSING',
    'EXTERNAL_API_ERROR',
    'RATE_LIMIT',
    'NETWORK_ERROR',
    'UNKNOWN',
  ]),
  executionTimeMs: z.number().int().min(0),
  request_id: z.string(),
});

/** What fails before the tool is the usual envelope. */
const envelope = z.looseObject({ error: z.string(), request_id: z.string() });

export type ExecuteToolBody = z.output<typeof body>;

export const executeTool = defineOperation({
  id: 'executeTool',
  method: 'POST',
  path: '/api/ai/v1/tools',
  tag: 'AI',
  summary: 'Run one of the tools of the web',
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'ai-tools' },
  owner: 'none',
  family: 'public',
  input: { body },
  output: { 200: { description: 'What the tool found.', schema: success } },
  refusals: [
    {
      status: 500,
      description: 'The tool failed, or the service did.',
      schema: z.union([failure, envelope]),
    },
  ],
});
