import * as z from 'zod';
import { idParams } from '../../contract/identifiers.ts';
import { defineOperation } from '../../contract/operation.ts';
import { organization } from './contract.ts';

export const transferOrganization = defineOperation({
  audit: ['organization.transferred'],
  id: 'transferOrganization',
  method: 'POST',
  path: '/api/organizations/{id}/transfer',
  summary: 'Make a member the owner of an organization',
  description:
    'Only the owner transfers it, and then administers it as a member. A repeated request changes nothing.',
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  owner: 'caller',
  family: 'application',
  tag: 'Organizations',
  subject: 'Organization',
  input: {
    params: idParams,
    body: z.object({ userId: z.string().describe('The id of the member that becomes the owner.') }),
  },
  output: { 200: { description: 'The organization.', schema: organization } },
  refusals: [
    { status: 403, description: 'The caller sees the organization, but does not own it.' },
    { status: 409, description: 'The user is not a member.' },
  ],
});
