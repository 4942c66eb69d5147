import * as z from 'zod';
import { pageQuery } from '../../contract/cursor.ts';
import { idParams } from '../../contract/identifiers.ts';
import { defineOperation } from '../../contract/operation.ts';
import { numberedQuery, pagination } from '../../contract/pages.ts';

const message = z.object({
  id: z.string().describe('The id of the message.'),
  role: z.enum(['user', 'assistant']).describe('Who wrote the message.'),
  content: z.string().describe('The text of the message.'),
  questId: z
    .string()
    .nullable()
    .describe('The id of the quest that wrote the answer; null for other messages.'),
  createdAt: z.iso.datetime().describe('The time of the message.'),
});

export type WireMessage = z.input<typeof message>;

export const listSessionMessages = defineOperation({
  id: 'listSessionMessages',
  method: 'GET',
  path: '/api/v1/sessions/{id}/messages',
  tag: 'Sessions',
  summary: 'List the messages of a session, oldest first',
  description: 'Loads a conversation page by page. Pass `next_cursor` as `cursor` to get the next page.',
  auth: 'key-or-token',
  scopes: ['notebooks:read', 'notebooks:write'],
  rate: { key: 'standard', user: 'standard' },
  owner: 'caller-or-shared',
  family: 'public',
  subject: 'Session',
  input: {
    params: idParams,
    query: pageQuery.extend({
      order: z
        .enum(['asc', 'desc'])
        .default('asc')
        .describe('`desc`: newest first. Keep it the same on the pages of one list.'),
    }),
  },
  output: {
    200: {
      description: 'A page of messages.',
      schema: z.object({
        data: z.array(message).describe('The messages.'),
        next_cursor: z.string().nullable().describe('The cursor of the next page. Null on the last one.'),
      }),
    },
  },
});

export const listMessages = defineOperation({
  id: 'listMessages',
  method: 'GET',
  path: '/api/sessions/{id}/messages',
  summary: 'List the messages of a session, newest first',
  description: 'Loads a conversation page by page. Without `order`, the newest messages come first.',
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  owner: 'caller-or-shared',
  family: 'application',
  tag: 'Conversations',
  subject: 'Session',
  input: { params: idParams, query: numberedQuery() },
  output: {
    200: {
      description: 'A page.',
      schema: z.object({ messages: z.array(message).describe('The messages of this page.'), pagination }),
    },
  },
});
