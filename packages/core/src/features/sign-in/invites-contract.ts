import * as z from 'zod';
import { distinctList } from '../../contract/lists.ts';
import { defineOperation } from '../../contract/operation.ts';
import { numberedQuery, pagination } from '../../contract/pages.ts';

const invite = z.object({
  _id: z.string().describe('The id of the invite.'),
  code: z.string().nullable().meta({
    description: 'Null on a server without an encryption key, which shows the code only at creation.',
  }),
  usesLeft: z.number().int().nullable().meta({ description: 'Null: unlimited.' }),
  createdAt: z.iso.datetime().describe('The time of creation.'),
});

const made = invite.extend({
  code: z.string().describe('The code that a new user enters. Shown only in this answer.'),
});

export type WireRegistrationInvite = z.input<typeof invite>;

const common = {
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  owner: 'admin',
  family: 'application',
  tag: 'Sign-in',
  refusals: [{ status: 403, description: 'The caller is not an administrator.' }],
} as const;

export const createRegistrationInvites = defineOperation({
  ...common,
  audit: ['registration_invite.created'],
  id: 'createRegistrationInvites',
  method: 'POST',
  path: '/api/reg-invites/create',
  summary: 'Create registration invites',
  description: 'For administrators. The codes are part of this answer only.',
  input: {
    body: z.object({
      multiple: z.number().int().min(1).max(500).meta({ description: 'Number of invites.' }),
      unlimitedUse: z
        .boolean()
        .optional()
        .describe('Whether the code can be used more than once. Default: once.'),
      startingCredits: z
        .number()
        .min(0)
        .max(1_000_000)
        .optional()
        .describe('The credits that an account made with the code starts with.'),
    }),
  },
  output: {
    201: {
      description: 'The invites.',
      schema: z.object({ invites: z.array(made).describe('The new invites with their codes.') }),
    },
  },
});

export const listRegistrationInvites = defineOperation({
  ...common,
  id: 'listRegistrationInvites',
  method: 'GET',
  path: '/api/reg-invites',
  summary: 'List registration invites, newest first',
  description: 'For administrators. Codes are not part of the list: only their hashes are stored.',
  input: {
    query: numberedQuery().extend({
      sort: z.enum(['createdAt']).optional().describe('The field to order by. Default: `createdAt`.'),
    }),
  },
  output: {
    200: {
      description: 'A page.',
      schema: z.object({ invites: z.array(invite).describe('The invites of this page.'), pagination }),
    },
  },
});

export const deleteRegistrationInvites = defineOperation({
  ...common,
  audit: ['registration_invite.deleted'],
  id: 'deleteRegistrationInvites',
  method: 'POST',
  path: '/api/reg-invites/delete',
  summary: 'Delete registration invites',
  description: 'For administrators. Unknown ids are ignored.',
  input: {
    body: z.object({
      ids: distinctList(z.string(), { min: 1, max: 500 }).describe('The ids of the invites to delete.'),
    }),
  },
  output: {
    200: {
      description: 'The invites are deleted. Safe to repeat.',
      schema: z.object({
        success: z.boolean().describe('Whether the operation did what it says.'),
        message: z.string().describe('A confirmation, for people.'),
      }),
    },
  },
});
