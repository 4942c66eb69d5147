import * as z from 'zod';
import { idParams } from '../../contract/identifiers.ts';
import { modelList } from '../../contract/lists.ts';
import { defineOperation } from '../../contract/operation.ts';
import { numberedQuery, pagination } from '../../contract/pages.ts';
import { text } from '../../contract/text.ts';

export const subscriptionTier = z.enum(['free', 'basic', 'pro', 'other']);
export const subscriptionStatus = z.enum(['trial', 'active', 'past_due', 'cancelled']);

export const organization = z.object({
  ownerId: z.string().describe('The id of the owner.'),
  _id: z.string().describe('The id of the organization.'),
  name: z.string().describe('The name of the organization.'),
  slug: z.string().describe('A short name for addresses, made from the name.'),
  subscriptionTier: subscriptionTier.describe('The plan of the organization.'),
  subscriptionStatus: subscriptionStatus.describe('The state of the subscription.'),
  memberCount: z.number().int().meta({ description: 'Includes the owner.' }),
  description: z.string().nullable().describe('A description, for people.'),
  models: z.array(z.string()).nullable().describe('The models of work that it pays; null: all.'),
});

export type WireOrganization = z.input<typeof organization>;

const common = {
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  owner: 'caller-or-shared',
  family: 'application',
  tag: 'Organizations',
  subject: 'Organization',
} as const;

export const listOrganizations = defineOperation({
  ...common,
  id: 'listOrganizations',
  method: 'GET',
  path: '/api/organizations',
  summary: "List the caller's organizations; administrators see all",
  description: 'Filter, sort and page with the query parameters.',
  input: {
    query: numberedQuery().extend({
      search: text({ max: 200 }).optional().meta({ description: 'Text in the name.' }),
      sort: z.enum(['createdAt', 'name']).default('createdAt').describe('The field to order by.'),
    }),
  },
  output: {
    200: {
      description: 'A page.',
      schema: z.object({
        organizations: z.array(organization).describe('The organizations of this page.'),
        pagination,
      }),
    },
  },
});

const organizationName = z
  .string()
  .trim()
  .pipe(text({ min: 1, max: 255 }))
  .describe('The name of the organization.');
const organizationDescription = text({ max: 1000 }).nullish().describe('What the organization is for.');

export const updateOrganization = defineOperation({
  ...common,
  audit: ['organization.updated'],
  id: 'updateOrganization',
  method: 'PATCH',
  path: '/api/organizations/{id}',
  summary: 'Update the given fields of an organization',
  description: 'For its owner and its administrators. The slug stays.',
  input: {
    params: idParams,
    body: z.object({
      name: organizationName.optional().describe('The name of the organization.'),
      description: organizationDescription,
      models: modelList.nullish().describe('The models of work that it pays; null: all.'),
    }),
  },
  output: { 200: { description: 'The updated organization.', schema: organization } },
  refusals: [{ status: 403, description: 'The caller sees the organization, but does not administer it.' }],
});

export const deleteOrganization = defineOperation({
  ...common,
  audit: ['organization.deleted', 'key.revoked'],
  id: 'deleteOrganization',
  method: 'DELETE',
  path: '/api/organizations/{id}',
  summary: 'Delete an organization; its members remain users',
  description:
    'Only the owner deletes it, and only with an empty balance, no open reservation and no active subscription. API keys ' +
    'that it pays for are revoked, its data lakes stay with their owners, and its ledger account keeps its history.',
  input: { params: idParams },
  output: { 204: { description: 'The organization is deleted.' } },
  refusals: [
    { status: 403, description: 'The caller sees the organization, but does not own it.' },
    { status: 409, description: 'It has credit, debt, running paid calls or an active subscription.' },
  ],
});

export const createOrganization = defineOperation({
  ...common,
  audit: ['organization.created'],
  id: 'createOrganization',
  method: 'POST',
  path: '/api/organizations',
  summary: 'Create an organization, owned by the caller',
  description: 'An organization is a group of users that share one credit balance.',
  owner: 'caller',
  input: {
    body: z.object({
      name: z
        .string()
        .trim()
        .pipe(text({ min: 1, max: 255 }))
        .describe('The name of the organization.'),
      description: text({ max: 1000 }).nullish().describe('A description, for people.'),
    }),
  },
  output: { 201: { description: 'The organization.', schema: organization } },
});
