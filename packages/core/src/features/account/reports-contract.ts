import * as z from 'zod';
import { idParams } from '../../contract/identifiers.ts';
import { defineOperation } from '../../contract/operation.ts';
import { instant } from '../../contract/times.ts';

/** Days of one report. */
export const MAX_REPORT_DAYS = 366;
/** Groups of one report. */
export const MAX_GROUPS = 5000;

const DIMENSIONS = ['day', 'model', 'operation', 'key', 'user', 'organization'] as const;
const MAX_DIMENSIONS = 2;

const value = z.string().nullable();

const sums = {
  requests: z.number().int().describe('The number of settled calls.'),
  credits: z.number().describe('The charged credits.'),
  usage: z
    .record(z.string(), z.number())
    .describe('Units by class, e.g. `input_tokens`. Classes do not overlap.'),
};

const report = z.object({
  from: z.iso.datetime().describe('The begin of the time, inclusive.'),
  to: z.iso.datetime().describe('The end of the time, exclusive.'),
  groups: z
    .array(
      z.object({
        group: z
          .object({
            day: value.optional().describe('The day of the call, in UTC.'),
            model: value.optional().describe('The id of the model; null for calls without a model.'),
            operation: value.optional().describe('The id of the operation.'),
            key: value.optional().describe('The id of the API key; null for signed-in users.'),
            user: value.optional().describe('The id of the user; null for calls without a user.'),
            organization: value
              .optional()
              .describe('The id of the organization that paid; null if the user paid.'),
          })
          .describe('The values that `group_by` asked for.'),
        ...sums,
      }),
    )
    .describe(
      'One entry per group, in the order of the values. A single one without `group_by`; none without calls.',
    ),
  total: z.object(sums).describe('The sums of all groups.'),
});

export type WireReport = z.input<typeof report>;

const query = z.object({
  from: instant()
    .optional()
    .describe(
      `The begin, inclusive. At most ${MAX_REPORT_DAYS} days before \`to\`. Default: 30 days before \`to\`.`,
    ),
  to: instant().optional().describe('The end, exclusive. Default: now.'),
  group_by: z
    .string()
    .max(100)
    .transform((text) => text.split(','))
    .pipe(
      z
        .array(z.enum(DIMENSIONS))
        .max(MAX_DIMENSIONS, `expected at most ${MAX_DIMENSIONS} values`)
        .refine((values) => new Set(values).size === values.length, 'expected different values'),
    )
    .optional()
    .meta({
      type: 'string',
      description: `Up to ${MAX_DIMENSIONS} of ${DIMENSIONS.map((name) => `\`${name}\``).join(', ')}, separated by a comma. Default: one sum.`,
    }),
});

export type ReportQuery = z.output<typeof query>;

const description =
  'Adds up settled calls by the time of the call, exactly. Days are days in UTC. ' +
  `A report covers at most ${MAX_REPORT_DAYS} days and ${MAX_GROUPS} groups.`;

const output = { 200: { description: 'The report.', schema: report } } as const;

export const getUsageReport = defineOperation({
  id: 'getUsageReport',
  method: 'GET',
  path: '/api/v1/usage/report',
  tag: 'Account',
  summary: 'Get the usage of the caller by day, model, operation or key',
  description: `${description} A key gets its own usage, a signed-in user that of all own calls.`,
  auth: 'key-or-token',
  scopes: ['me:read'],
  rate: { key: 'day-exempt', user: 'standard' },
  owner: 'caller',
  family: 'public',
  input: { query },
  output,
});

const application = {
  method: 'GET',
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  family: 'application',
} as const;

export const getOrganizationUsageReport = defineOperation({
  ...application,
  id: 'getOrganizationUsageReport',
  path: '/api/organizations/{id}/usage-report',
  tag: 'Organizations',
  summary: 'Get the usage that an organization paid for',
  description: `For administrators of the organization. ${description}`,
  owner: 'caller',
  subject: 'Organization',
  input: { params: idParams, query },
  output,
  refusals: [{ status: 403, description: 'The caller sees the organization, but does not administer it.' }],
});

export const getWorkspaceUsageReport = defineOperation({
  ...application,
  id: 'getWorkspaceUsageReport',
  path: '/api/usage-report',
  tag: 'Users',
  summary: 'Get the usage of all users',
  description: `For administrators. ${description}`,
  owner: 'admin',
  input: { query },
  output,
  refusals: [{ status: 403, description: 'The caller is not an administrator.' }],
});
