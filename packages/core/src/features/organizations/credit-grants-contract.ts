import * as z from 'zod';
import { idParams } from '../../contract/identifiers.ts';
import { defineOperation } from '../../contract/operation.ts';
import { text } from '../../contract/text.ts';

/** Credits in one grant. */
const MAX_CREDITS = 1_000_000;

const common = {
  method: 'POST',
  description:
    'For administrators. Idempotent: the same `key` grants once per account, and a repeated request answers `granted: false`. ' +
    'A negative number takes credits back.',
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  owner: 'admin',
  family: 'application',
  input: {
    params: idParams,
    body: z.object({
      credits: z
        .number()
        .min(-MAX_CREDITS)
        .max(MAX_CREDITS)
        .refine((credits) => Math.round(credits * 1e6) !== 0, 'expected at least 0.000001 credits')
        .describe('The credits to add; negative: to take back. Counted to 6 decimals.'),
      key: text({ min: 1, max: 200 }).describe('The idempotency key, e.g. the id of the payment.'),
      reason: text({ min: 1, max: 500 }).optional().describe('The reason, stored in the ledger.'),
    }),
  },
  output: {
    200: {
      description: 'The account after the grant.',
      schema: z.object({
        granted: z.boolean().describe('False if a grant with this key was made before.'),
        balance: z.number().describe('The credits that the account can spend.'),
        reserved: z.number().describe('The credits that running calls hold.'),
      }),
    },
  },
  refusals: [{ status: 403, description: 'The caller is not an administrator.' }],
} as const;

export const grantUserCredits = defineOperation({
  ...common,
  audit: ['credits.granted'],
  id: 'grantUserCredits',
  path: '/api/users/{id}/credit-grants',
  summary: 'Grant credits to a user',
  tag: 'Users',
  subject: 'User',
});

export const grantOrganizationCredits = defineOperation({
  ...common,
  audit: ['credits.granted'],
  id: 'grantOrganizationCredits',
  path: '/api/organizations/{id}/credit-grants',
  summary: 'Grant credits to an organization',
  tag: 'Organizations',
  subject: 'Organization',
});
