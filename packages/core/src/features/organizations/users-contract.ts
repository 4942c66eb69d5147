import * as z from 'zod';
import { idParams } from '../../contract/identifiers.ts';
import { defineOperation } from '../../contract/operation.ts';
import { numberedQuery, pagination } from '../../contract/pages.ts';
import { text } from '../../contract/text.ts';
import { visibleUser } from './wire.ts';

const common = {
  method: 'GET',
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  owner: 'caller-or-shared',
  family: 'application',
  tag: 'Users',
  subject: 'User',
} as const;

export const listUsers = defineOperation({
  ...common,
  id: 'listUsers',
  path: '/api/users',
  summary: "List the caller and the members of the caller's organizations; administrators see all",
  description: 'Filter, sort and page with the query parameters.',
  input: {
    query: numberedQuery(10).extend({
      search: text({ max: 200 })
        .optional()
        .meta({ description: 'Text in the user name; for administrators also in the e-mail address.' }),
      organizationId: z.string().optional().describe('Only members of this organization.'),
      role: z.enum(['admin', 'user']).optional().describe('Only users with this role.'),
      sort: z.enum(['createdAt', 'username']).default('createdAt').describe('The field to order by.'),
    }),
  },
  output: {
    200: {
      description: 'A page.',
      schema: z.object({ users: z.array(visibleUser).describe('The users of this page.'), pagination }),
    },
  },
});

const personName = z
  .string()
  .trim()
  .pipe(text({ min: 1, max: 100 }));

export const updateUser = defineOperation({
  ...common,
  audit: ['user.updated'],
  id: 'updateUser',
  method: 'PATCH',
  path: '/api/users/{id}',
  summary: "Update the given fields of the caller's user",
  description: 'Administrators change every user.',
  owner: 'caller',
  input: {
    params: idParams,
    body: z.object({
      username: personName.optional().describe('The display name; need not be unique.'),
      firstName: personName.nullish().describe('The first name. Null removes it.'),
      lastName: personName.nullish().describe('The last name. Null removes it.'),
    }),
  },
  output: { 200: { description: 'The updated user.', schema: visibleUser } },
  refusals: [{ status: 403, description: 'The caller sees the user, but may not change it.' }],
});

export const getUser = defineOperation({
  ...common,
  id: 'getUser',
  path: '/api/users/{id}',
  summary: 'Get a user',
  description:
    "Visible are the caller, members of the caller's organizations and, for administrators, everybody.",
  input: { params: idParams },
  output: { 200: { description: 'The user.', schema: visibleUser } },
});
