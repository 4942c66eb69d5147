import * as z from 'zod';
import { idParams } from '../http/identifiers.ts';
import { numberedQuery, pagination } from '../http/pages.ts';
import { text } from '../http/text.ts';
import { defineOperation } from '../operation.ts';

const memento = z.object({
  id: z.string(),
  text: z.string(),
  standing: z.boolean().meta({ description: 'It is told to the model in every turn.' }),
  sessionId: z.string().meta({ description: 'Where it was said first.' }),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime().meta({ description: 'When it was said last.' }),
});

export type WireMemento = z.input<typeof memento>;

const common = {
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  owner: 'caller',
  family: 'application',
  subject: 'Memento',
} as const;

export const listMementos = defineOperation({
  ...common,
  id: 'listMementos',
  method: 'GET',
  path: '/api/mementos',
  summary: 'List what is remembered of the caller, newest first',
  input: {
    query: numberedQuery().extend({
      search: text({ max: 200 }).optional().meta({ description: 'Part of the text.' }),
      sort: z.enum(['createdAt', 'updatedAt']).optional(),
    }),
  },
  output: { 200: { description: 'A page.', schema: z.object({ mementos: z.array(memento), pagination }) } },
});

export const deleteMemento = defineOperation({
  ...common,
  id: 'deleteMemento',
  method: 'DELETE',
  path: '/api/mementos/{id}',
  summary: 'Forget something',
  input: { params: idParams },
  output: {
    200: {
      description: 'It is forgotten.',
      schema: z.object({ success: z.boolean(), message: z.string() }),
    },
  },
});
