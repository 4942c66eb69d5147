import * as z from 'zod';
import { defineOperation } from '../../contract/operation.ts';

const entry = z.object({
  id: z.string().meta({ description: 'The id of the entry.' }),
  title: z.string().meta({ description: 'What is new, in one line.' }),
  body: z.string().optional().meta({ description: 'The whole text, as Markdown.' }),
  published_at: z.iso.datetime().meta({ description: 'The time of its publication.' }),
  url: z.string().optional().meta({ description: 'A page about it.' }),
});

/** News of the host for its users. */
export type WhatsNewEntry = z.input<typeof entry>;

export const listWhatsNew = defineOperation({
  id: 'listWhatsNew',
  method: 'GET',
  path: '/api/v1/whats-new',
  tag: 'Account',
  summary: 'List what is new, newest first',
  description: 'Present where the host lists news.',
  auth: 'key-or-token',
  scopes: ['me:read', 'ai:chat', 'ai:generate'],
  rate: { key: 'day-exempt', user: 'standard' },
  owner: 'public',
  family: 'public',
  input: {},
  output: {
    200: {
      description: 'The newest 100 entries.',
      schema: z.object({ data: z.array(entry).meta({ description: 'The entries.' }) }),
    },
  },
});
