import * as z from 'zod';
import { defineOperation } from '../../contract/operation.ts';
import { FETCH_INPUT, SEARCH_INPUT, WEATHER_INPUT } from './builtin/web.ts';

const body = z.discriminatedUnion('toolName', [
  z.object({
    toolName: z.literal('weather_info').describe('The tool to run.'),
    input: WEATHER_INPUT.describe('The input of the tool.'),
  }),
  z.object({
    toolName: z.literal('web_search').describe('The tool to run.'),
    input: SEARCH_INPUT.describe('The input of the tool.'),
  }),
  z.object({
    toolName: z.literal('web_fetch').describe('The tool to run.'),
    input: FETCH_INPUT.describe('The input of the tool.'),
  }),
]);

const success = z.object({
  success: z.literal(true).describe('Marks a tool that ran.'),
  result: z.unknown().describe('The result of the tool; its shape depends on the tool.'),
  content: z.string().meta({ description: 'The result as text.' }),
  executionTimeMs: z.number().int().min(0).describe('The duration of the tool, in milliseconds.'),
  request_id: z.string().describe('Equals the `X-Request-ID` header.'),
});

const failure = z.object({
  success: z.literal(false).describe('Marks a tool that failed.'),
  error: z.string().describe('The problem, for people. Never branch on it.'),
  errorType: z
    .enum([
      'INVALID_INPUT',
      'API_KEY_MISSING',
      'EXTERNAL_API_ERROR',
      'RATE_LIMIT',
      'NETWORK_ERROR',
      'UNKNOWN',
    ])
    .describe('The kind of the problem, to branch on.'),
  executionTimeMs: z.number().int().min(0).describe('The duration of the tool, in milliseconds.'),
  request_id: z.string().describe('Equals the `X-Request-ID` header.'),
});

/** Errors before the tool call use the common error response. */
const envelope = z.looseObject({
  error: z.string().describe('The problem, for people. Never branch on it.'),
  request_id: z.string().describe('Equals the `X-Request-ID` header.'),
});

export type ExecuteToolBody = z.output<typeof body>;

export const executeTool = defineOperation({
  id: 'executeTool',
  paid: true,
  method: 'POST',
  path: '/api/ai/v1/tools',
  tag: 'AI',
  summary: 'Run a web tool',
  description:
    'Runs one tool without a model: weather, web search or web fetch. A failure answers an error status with its `errorType`.',
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'ai-tools' },
  owner: 'none',
  family: 'public',
  input: { body },
  output: { 200: { description: 'The result of the tool.', schema: success } },
  refusals: [
    {
      status: 500,
      description: 'The tool or the service failed.',
      schema: z.union([failure, envelope]),
    },
  ],
});
