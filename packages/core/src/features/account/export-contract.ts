import * as z from 'zod';
import { idParams } from '../../contract/identifiers.ts';
import { defineOperation } from '../../contract/operation.ts';

const query = z.object({
  format: z
    .enum(['ndjson', 'csv'])
    .default('ndjson')
    .describe('JSON objects, one per line, or CSV with a header.'),
  cursor: z
    .string()
    .min(1)
    .max(1024)
    .optional()
    .describe(
      'The `cursor` of the last line that was read. Only later lines follow. Default: from the first one.',
    ),
});

export type ExportQuery = z.output<typeof query>;

const application = {
  method: 'GET',
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  family: 'application',
  output: {
    200: {
      description: 'A stream of lines: NDJSON, or CSV as asked for.',
      contentType: 'application/x-ndjson',
      binary: 'text/csv',
    },
  },
} as const;

const description =
  'One line per grant and charge, in an order that never changes. Each line has a `cursor`: a later export that continues ' +
  'there gets every entry exactly once, also those that are added meanwhile. The sum of `micro_credits` is the balance.';

export const exportCredits = defineOperation({
  ...application,
  id: 'exportCredits',
  path: '/api/credits/export',
  tag: 'Account',
  summary: "Export the grants and charges of the caller's own account",
  description,
  owner: 'caller',
  input: { query },
});

export const exportOrganizationCredits = defineOperation({
  ...application,
  id: 'exportOrganizationCredits',
  path: '/api/organizations/{id}/credits/export',
  tag: 'Organizations',
  summary: 'Export the grants and charges of an organization',
  description: `For administrators of the organization. ${description}`,
  owner: 'caller',
  subject: 'Organization',
  input: { params: idParams, query },
  refusals: [{ status: 403, description: 'The caller sees the organization, but does not administer it.' }],
});

export const exportWorkspaceCredits = defineOperation({
  ...application,
  id: 'exportWorkspaceCredits',
  path: '/api/ledger/export',
  tag: 'Users',
  summary: 'Export the grants and charges of all accounts',
  description: `For administrators. ${description}`,
  owner: 'admin',
  input: { query },
  refusals: [{ status: 403, description: 'The caller is not an administrator.' }],
});
