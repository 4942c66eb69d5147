import * as z from 'zod';
import { idParams } from '../http/identifiers.ts';
import { numberedQuery, pagination } from '../http/pages.ts';
import { text } from '../http/text.ts';
import { defineOperation } from '../operation.ts';
import { seenUser } from './wire.ts';

const common = {
  method: 'GET',
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  owner: 'caller-or-shared',
  family: 'application',
  subject: 'User',
} as const;

export const listUsers = defineOperation({
  ...common,
  id: 'listUsers',
  path: '/api/users',
  summary: "List the caller and the members of the caller's organizations; an administrator sees all",
  input: {
    query: numberedQuery(10).extend({
      search: text({ max: 200 })
        .optional()
        .meta({ description: 'Part of the user name; for administrators also of the e-mail address.' }),
      organizationId: z.string().optional(),
      role: z.enum(['admin', 'user']).optional(),
      sort: z.enum(['createdAt', 'username']).default('createdAt'),
    }),
  },
  output: { 200: { description: 'A page.', schema: z.object({ users: z.array(seenUser), pagination }) } },
});

export const getUser = defineOperation({
  ...common,
  id: 'getUser',
  path: '/api/users/{id}',
  summary: 'Read a user',
  input: { params: idParams },
  output: { 200: { description: 'The user.', schema: seenUser } },
});
