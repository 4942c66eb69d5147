import * as z from 'zod';
import { idParams } from '../../contract/identifiers.ts';
import { defineOperation } from '../../contract/operation.ts';
import { numberedQuery, pagination } from '../../contract/pages.ts';
import { text } from '../../contract/text.ts';

const memento = z.object({
  id: z.string().describe('The id of the memento.'),
  text: z.string().describe('What is remembered, in one sentence.'),
  standing: z.boolean().meta({ description: 'Part of the prompt in every turn.' }),
  sessionId: z.string().meta({ description: 'The session that mentioned it first.' }),
  createdAt: z.iso.datetime().describe('The time at which it was learned.'),
  updatedAt: z.iso.datetime().meta({ description: 'Time of the last mention.' }),
});

export type WireMemento = z.input<typeof memento>;

const common = {
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  owner: 'caller',
  family: 'application',
  tag: 'Memory',
  subject: 'Memento',
} as const;

export const listMementos = defineOperation({
  ...common,
  id: 'listMementos',
  method: 'GET',
  path: '/api/mementos',
  summary: "List the caller's mementos, newest first",
  description:
    'A memento is a sentence that chat remembers about the caller. Filter, sort and page with the query parameters.',
  input: {
    query: numberedQuery().extend({
      search: text({ max: 200 }).optional().meta({ description: 'Text in the memento.' }),
      sort: z
        .enum(['createdAt', 'updatedAt'])
        .optional()
        .describe('The field to order by. Default: `createdAt`.'),
    }),
  },
  output: {
    200: {
      description: 'A page.',
      schema: z.object({ mementos: z.array(memento).describe('The mementos of this page.'), pagination }),
    },
  },
});

export const deleteMemento = defineOperation({
  ...common,
  id: 'deleteMemento',
  method: 'DELETE',
  path: '/api/mementos/{id}',
  summary: 'Delete a memento',
  description: 'Chat no longer recalls it. It can be learned again.',
  input: { params: idParams },
  output: {
    200: {
      description: 'The memento is deleted.',
      schema: z.object({
        success: z.boolean().describe('Whether the operation did what it says.'),
        message: z.string().describe('A confirmation, for people.'),
      }),
    },
  },
});
