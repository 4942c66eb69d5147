import * as z from 'zod';
import { defineOperation } from '../../contract/operation.ts';
import { text } from '../../contract/text.ts';
import { MAX_SEARCHED_MESSAGES, MAX_SEARCHED_SESSIONS, MAX_TEXT } from './semantic-search.ts';

const MAX_RESULTS = 50;
const DEFAULT_RESULTS = 20;
const DEFAULT_MIN_SIMILARITY = 0.3;

const score = z.object({
  sessionId: z.string().describe('The id of the session.'),
  sessionName: z.string().describe('The title of the session.'),
  maxSimilarity: z
    .number()
    .min(-1)
    .max(1)
    .describe(
      'The cosine similarity of the text of the session that is most similar to the query. 1: the same direction.',
    ),
  matchingMessages: z
    .number()
    .int()
    .min(0)
    .describe('The number of searched messages with at least `minSimilarity`. 0: only the title matches.'),
});

export const searchSessions = defineOperation({
  id: 'searchSessions',
  paid: true,
  method: 'POST',
  path: '/api/sessions/semantic-search',
  summary: 'Search sessions by meaning',
  description:
    `Compares the query with the titles and summaries of the ${MAX_SEARCHED_SESSIONS} sessions that changed last, own ` +
    `and shared, and with their newest messages, at most ${MAX_SEARCHED_MESSAGES}. Each text counts with its first ` +
    `${MAX_TEXT} characters. One call of an embedding model is charged for the query and all compared texts; without ` +
    'sessions nothing is charged.',
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  owner: 'caller-or-shared',
  family: 'application',
  tag: 'Conversations',
  subject: 'Session',
  input: {
    body: z.object({
      query: text({ min: 1, max: 4000 }).describe('What to search for.'),
      limit: z
        .number()
        .int()
        .min(1)
        .max(MAX_RESULTS)
        .default(DEFAULT_RESULTS)
        .describe('Maximum number of sessions in the answer.'),
      minSimilarity: z
        .number()
        .min(-1)
        .max(1)
        .default(DEFAULT_MIN_SIMILARITY)
        .describe('Minimum cosine similarity of a match. Embedding models differ in their usual values.'),
    }),
  },
  output: {
    200: {
      description: 'The matching sessions, the most similar one first.',
      schema: z.object({
        sessionIds: z.array(z.string()).describe('The ids of the sessions, in the order of `scores`.'),
        count: z.number().int().min(0).describe('The number of sessions in this answer.'),
        scores: z.array(score).describe('The similarity of each session.'),
      }),
    },
  },
  refusals: [
    { status: 422, description: 'No embedding model is available; INSUFFICIENT_CREDITS.' },
    { status: 502, description: 'PROVIDER_ERROR: the model provider failed.' },
    { status: 503, description: 'PROVIDER_ERROR: it is overloaded or has no key.' },
  ],
});
