import * as z from 'zod';
import { numberedQuery, pagination } from '../http/pages.ts';
import { text } from '../http/text.ts';
import { defineOperation } from '../operation.ts';
import { subscriptionStatus, subscriptionTier } from '../organizations/contract.ts';

const own = z.object({
  _id: z.string(),
  status: subscriptionStatus,
  tier: subscriptionTier,
  currentPeriodEnd: z.iso.datetime().nullable(),
  creditsRemaining: z.number().meta({ description: 'What can be spent, open reservations taken off.' }),
});

const anybodys = own.extend({ userId: z.string().nullable(), organizationId: z.string().nullable() });

export type WireSubscription = z.input<typeof anybodys>;

const common = {
  method: 'GET',
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  family: 'application',
} as const;

export const listOwnSubscriptions = defineOperation({
  ...common,
  id: 'listOwnSubscriptions',
  path: '/api/subscriptions/own',
  summary: "The subscriptions of the caller and of the caller's organizations",
  owner: 'caller-or-shared',
  input: {},
  output: { 200: { description: 'They.', schema: z.object({ subscriptions: z.array(own) }) } },
});

export const listSubscriptions = defineOperation({
  ...common,
  id: 'listSubscriptions',
  path: '/api/subscriptions',
  summary: 'List every subscription, newest first',
  owner: 'admin',
  input: {
    query: numberedQuery().extend({
      search: text({ max: 200 })
        .optional()
        .meta({ description: "Part of a user's name or e-mail address, or of an organization's name." }),
      sort: z.enum(['createdAt']).optional(),
    }),
  },
  output: {
    200: { description: 'A page.', schema: z.object({ subscriptions: z.array(anybodys), pagination }) },
  },
  refusals: [{ status: 403, description: 'The caller is no administrator.' }],
});
