import * as z from 'zod';
import { idParams } from '../http/identifiers.ts';
import { numberedQuery, pagination } from '../http/pages.ts';
import { defineOperation } from '../operation.ts';

const message = z.object({
  id: z.string(),
  role: z.enum(['user', 'assistant']),
  content: z.string(),
  questId: z.string().nullable(),
  createdAt: z.iso.datetime(),
});

export type WireMessage = z.input<typeof message>;

export const listMessages = defineOperation({
  id: 'listMessages',
  method: 'GET',
  path: '/api/sessions/{id}/messages',
  summary: 'List what was said in a session, newest first',
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  owner: 'caller-or-shared',
  family: 'application',
  subject: 'Session',
  input: { params: idParams, query: numberedQuery() },
  output: {
    200: { description: 'A page.', schema: z.object({ messages: z.array(message), pagination }) },
  },
});
