import * as z from 'zod';
import { idParams } from '../../contract/identifiers.ts';
import { defineOperation } from '../../contract/operation.ts';
import { visibleUser } from './wire.ts';

export const changeUserAccess = defineOperation({
  audit: ['user.role_changed', 'user.disabled', 'user.enabled'],
  id: 'changeUserAccess',
  method: 'PUT',
  path: '/api/users/{id}/access',
  summary: 'Promote, demote, disable or enable a user',
  description:
    'For administrators, and not for their own account: one of them always remains. A disabled user is rejected with every ' +
    'token and API key within two seconds, and signs in again after being enabled. A repeated request changes nothing.',
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  owner: 'admin',
  family: 'application',
  tag: 'Users',
  subject: 'User',
  input: {
    params: idParams,
    body: z.object({
      isAdmin: z.boolean().optional().meta({ description: 'Whether the user is an administrator.' }),
      disabled: z.boolean().optional().meta({ description: 'Whether the account is disabled.' }),
    }),
  },
  output: { 200: { description: 'The updated user.', schema: visibleUser } },
  refusals: [
    { status: 403, description: 'The caller is not an administrator.' },
    { status: 409, description: 'CONFLICT: the account of the caller.' },
  ],
});
