import * as z from 'zod';
import { defineOperation } from '../../contract/operation.ts';
import { numberedQuery, pagination } from '../../contract/pages.ts';
import { text } from '../../contract/text.ts';
import { subscriptionStatus, subscriptionTier } from './contract.ts';

const own = z.object({
  _id: z.string().describe('The id of the subscription.'),
  status: subscriptionStatus.describe('The state of the subscription.'),
  tier: subscriptionTier.describe('The plan.'),
  currentPeriodEnd: z.iso.datetime().nullable().describe('The end of the paid period; null without an end.'),
  creditsRemaining: z
    .number()
    .meta({ description: 'Credits that can be spent now, without open reservations.' }),
});

const anybodys = own.extend({
  userId: z
    .string()
    .nullable()
    .describe('The id of the user who has the subscription; null for the subscription of an organization.'),
  organizationId: z
    .string()
    .nullable()
    .describe('The id of the organization that has the subscription; null for the subscription of a user.'),
});

export type WireSubscription = z.input<typeof anybodys>;

const common = {
  method: 'GET',
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  family: 'application',
  tag: 'Organizations',
} as const;

export const listOwnSubscriptions = defineOperation({
  ...common,
  id: 'listOwnSubscriptions',
  path: '/api/subscriptions/own',
  summary: "List the subscriptions of the caller and of the caller's organizations",
  description: 'Subscriptions are set by the host of the workspace.',
  owner: 'caller-or-shared',
  input: {},
  output: {
    200: {
      description: 'The subscriptions.',
      schema: z.object({ subscriptions: z.array(own).describe('The subscriptions of this page.') }),
    },
  },
});

export const listSubscriptions = defineOperation({
  ...common,
  id: 'listSubscriptions',
  path: '/api/subscriptions',
  summary: 'List every subscription, newest first',
  description: 'For administrators. Filter, sort and page with the query parameters.',
  owner: 'admin',
  input: {
    query: numberedQuery().extend({
      search: text({ max: 200 })
        .optional()
        .meta({ description: "Text in a user's name or e-mail address, or in an organization's name." }),
      sort: z.enum(['createdAt']).optional().describe('The field to order by. Default: `createdAt`.'),
    }),
  },
  output: {
    200: {
      description: 'A page.',
      schema: z.object({
        subscriptions: z.array(anybodys).describe('The subscriptions of this page.'),
        pagination,
      }),
    },
  },
  refusals: [{ status: 403, description: 'The caller is not an administrator.' }],
});
