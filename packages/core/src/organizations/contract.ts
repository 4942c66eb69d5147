import * as z from 'zod';
import { numberedQuery, pagination } from '../http/pages.ts';
import { text } from '../http/text.ts';
import { defineOperation } from '../operation.ts';

export const subscriptionTier = z.enum(['free', 'basic', 'pro', 'other']);
export const subscriptionStatus = z.enum(['trial', 'active', 'past_due', 'cancelled']);

export const organization = z.object({
  _id: z.string(),
  name: z.string(),
  slug: z.string(),
  subscriptionTier,
  subscriptionStatus,
  memberCount: z.number().int().meta({ description: 'The owner too.' }),
  description: z.string().nullable(),
});

export type WireOrganization = z.input<typeof organization>;

const common = {
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  owner: 'caller-or-shared',
  family: 'application',
  subject: 'Organization',
} as const;

export const listOrganizations = defineOperation({
  ...common,
  id: 'listOrganizations',
  method: 'GET',
  path: '/api/organizations',
  summary: 'List the organizations the caller belongs to; an administrator sees all',
  input: {
    query: numberedQuery().extend({
      search: text({ max: 200 }).optional().meta({ description: 'Part of the name.' }),
      sort: z.enum(['createdAt', 'name']).default('createdAt'),
    }),
  },
  output: {
    200: { description: 'A page.', schema: z.object({ organizations: z.array(organization), pagination }) },
  },
});

export const createOrganization = defineOperation({
  ...common,
  id: 'createOrganization',
  method: 'POST',
  path: '/api/organizations',
  summary: 'Make an organization, owned by the caller',
  owner: 'caller',
  input: {
    body: z.object({
      name: z
        .string()
        .trim()
        .pipe(text({ min: 1, max: 255 })),
      description: text({ max: 1000 }).nullish(),
    }),
  },
  output: { 201: { description: 'It.', schema: organization } },
});
