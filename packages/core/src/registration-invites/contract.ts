import * as z from 'zod';
import { numberedQuery, pagination } from '../http/pages.ts';
import { defineOperation } from '../operation.ts';

const invite = z.object({
  _id: z.string(),
  code: z
    .string()
    .nullable()
    .meta({ description: 'Null: the server has no key to keep it with; it was shown when it was made.' }),
  usesLeft: z.number().int().nullable().meta({ description: 'Null: any number.' }),
  createdAt: z.iso.datetime(),
});

const made = invite.extend({ code: z.string() });

export type WireRegistrationInvite = z.input<typeof invite>;

const common = {
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  owner: 'admin',
  family: 'application',
  refusals: [{ status: 403, description: 'The caller is no administrator.' }],
} as const;

export const createRegistrationInvites = defineOperation({
  ...common,
  id: 'createRegistrationInvites',
  method: 'POST',
  path: '/api/reg-invites/create',
  summary: 'Make registration invites',
  input: {
    body: z.object({
      multiple: z.number().int().min(1).max(500).meta({ description: 'How many.' }),
      unlimitedUse: z.boolean().optional(),
      startingCredits: z.number().min(0).max(1_000_000).optional(),
    }),
  },
  output: { 201: { description: 'They.', schema: z.object({ invites: z.array(made) }) } },
});

export const listRegistrationInvites = defineOperation({
  ...common,
  id: 'listRegistrationInvites',
  method: 'GET',
  path: '/api/reg-invites',
  summary: 'List registration invites, newest first',
  input: { query: numberedQuery().extend({ sort: z.enum(['createdAt']).optional() }) },
  output: { 200: { description: 'A page.', schema: z.object({ invites: z.array(invite), pagination }) } },
});

export const deleteRegistrationInvites = defineOperation({
  ...common,
  id: 'deleteRegistrationInvites',
  method: 'POST',
  path: '/api/reg-invites/delete',
  summary: 'Delete registration invites',
  input: { body: z.object({ ids: z.array(z.string()).min(1).max(500) }) },
  output: {
    200: {
      description: 'None of them is there any more.',
      schema: z.object({ success: z.boolean(), message: z.string() }),
    },
  },
});
