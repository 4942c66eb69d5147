import * as z from 'zod';
import { eventsQuery, LIVE_EVENTS_DESCRIPTION, liveEventsOutput } from '../../../contract/live-events.ts';
import { defineOperation } from '../../../contract/operation.ts';
import { credits, stopReason, thinking, toolCall, usage } from '../events.ts';

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

const storedCompletion = z.object({
  requestId: z.string().describe('The `X-Request-ID` of the completion.'),
  status: z
    .enum(['running', 'done', 'failed'])
    .describe('The state of the completion. `failed`: `error` says why, and `text` is what arrived before.'),
  model: z.string().describe('The id of the model that answers.'),
  text: z.string().nullable().describe('The whole text; null while the completion runs.'),
  tools: z
    .array(toolCall)
    .optional()
    .describe('The tool calls of the answer: run them, and send the results.'),
  thinking,
  usage: usage.optional().describe('The billed tokens.'),
  credits: credits.optional().describe('The cost, while credits are enforced.'),
  stopReason,
  error: z
    .object({
      message: z.string().describe('The problem, for people.'),
      code: z.string().optional().describe('The code of problems that clients branch on.'),
    })
    .optional()
    .describe('Why the completion failed.'),
  createdAt: z.iso.datetime().describe('The time of the request.'),
});

export type WireStoredCompletion = z.input<typeof storedCompletion>;

export const getCompletionEvents = defineOperation({
  id: 'getCompletionEvents',
  method: 'GET',
  path: '/api/ai/v1/completions/{requestId}/events',
  tag: 'AI',
  summary: 'Follow a stored completion',
  description: `For completions that were requested with \`store\`, for 24 hours. ${LIVE_EVENTS_DESCRIPTION}`,
  auth: 'key-or-token',
  scopes: ['ai:chat', 'ai:generate'],
  rate: { key: 'day-exempt', user: 'standard' },
  owner: 'caller',
  family: 'public',
  subject: 'Completion',
  input: {
    params: z.object({
      requestId: z
        .string()
        .regex(REQUEST_ID)
        .describe('The `X-Request-ID` of the completion. A malformed id answers 404, like an unknown one.'),
    }),
    query: eventsQuery,
  },
  output: liveEventsOutput(storedCompletion),
});
