import * as z from 'zod';
import { idParams } from '../../contract/identifiers.ts';
import { defineOperation } from '../../contract/operation.ts';

export const getOrganizationCredits = defineOperation({
  id: 'getOrganizationCredits',
  method: 'GET',
  path: '/api/organizations/{id}/credits',
  tag: 'Organizations',
  summary: 'Get the credits of an organization',
  description: 'For the owner and the administrators of the organization.',
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  owner: 'caller',
  family: 'application',
  subject: 'Organization',
  input: { params: idParams },
  output: {
    200: {
      description: 'The credits.',
      schema: z.object({
        balance: z.number().describe('Credits that can be spent now, without open reservations.'),
        reserved: z.number().describe('The credits that are held for running calls.'),
      }),
    },
  },
  refusals: [{ status: 403, description: 'The caller sees the organization, but does not administer it.' }],
});
