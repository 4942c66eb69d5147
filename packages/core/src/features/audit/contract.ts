import * as z from 'zod';
import { ACTOR_TYPES, AUDIT_ACTIONS } from '../../contract/audit.ts';
import { cursorPage, pageQuery } from '../../contract/cursor.ts';
import { idParams } from '../../contract/identifiers.ts';
import { defineOperation } from '../../contract/operation.ts';
import { text } from '../../contract/text.ts';
import { instant } from '../../contract/times.ts';

const entry = z.object({
  id: z.string().describe('The id of the entry.'),
  createdAt: z.iso.datetime().describe('The time of the act.'),
  action: z.enum(AUDIT_ACTIONS).describe('What was done.'),
  actor: z
    .object({
      type: z
        .enum(ACTOR_TYPES)
        .describe(
          'A signed-in user, a user whom the host identifies, an API key, the command line, or the service itself, including code of the host.',
        ),
      userId: z.string().nullable().describe('The id of the user who acted; null for other actors.'),
      keyId: z.string().nullable().describe('The id of the API key; null without one.'),
    })
    .describe('Who did it.'),
  target: z
    .object({
      type: z.string().describe('The kind of the target, such as `key` or `organization`.'),
      id: z
        .string()
        .describe('The id of the target. For credits: the account, `user:<id>` or `organization:<id>`.'),
    })
    .describe('What it was done to.'),
  organizationId: z
    .string()
    .nullable()
    .describe('The id of the organization that it concerns; null for none.'),
  changes: z
    .array(
      z.object({
        field: z.string().describe('The name of the field.'),
        before: z.unknown().describe('The value before; null for none.'),
        after: z.unknown().describe('The value after; null for none.'),
      }),
    )
    .describe('The changed fields, without secrets.'),
  requestId: z.string().nullable().describe('The `X-Request-ID` of the call; null without a call.'),
  address: z
    .string()
    .nullable()
    .describe('The network address of the client, as the server knows it; null without a call.'),
});

export type WireAuditEntry = z.input<typeof entry>;

const filter = z.object({
  actor: text({ max: 100 }).optional().describe('Only acts of this user, by id.'),
  target: text({ max: 200 }).optional().describe('Only acts on this target, by id.'),
  action: z.enum(AUDIT_ACTIONS).optional().describe('Only this kind of act.'),
  from: instant().optional().describe('Only acts at this time or later.'),
  to: instant().optional().describe('Only acts before this time.'),
});

export type AuditQuery = z.output<typeof filter>;

const common = {
  method: 'GET',
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  family: 'application',
  tag: 'Audit',
} as const;

const everything = {
  ...common,
  owner: 'admin',
  refusals: [{ status: 403, description: 'The caller is not an administrator.' }],
} as const;

const ofOrganization = {
  ...common,
  owner: 'caller',
  subject: 'Organization',
  refusals: [{ status: 403, description: 'The caller sees the organization, but does not administer it.' }],
} as const;

const page = {
  200: { description: 'A page.', schema: cursorPage(entry) },
} as const;

const lines = {
  200: {
    description: 'One entry per line, as JSON, oldest first.',
    contentType: 'application/x-ndjson',
  },
} as const;

export const listAuditEntries = defineOperation({
  ...everything,
  id: 'listAuditEntries',
  path: '/api/audit',
  summary: 'List the audit log, newest first',
  description:
    'For administrators. Every administrative act is an entry, written in the same transaction. Entries are never changed or deleted, except by age.',
  input: { query: pageQuery.extend(filter.shape) },
  output: page,
});

export const exportAuditEntries = defineOperation({
  ...everything,
  id: 'exportAuditEntries',
  path: '/api/audit/export',
  summary: 'Export the audit log as NDJSON, oldest first',
  description: 'For administrators. The answer is a stream of the entries up to the time of the request.',
  input: { query: filter },
  output: lines,
});

export const listOrganizationAuditEntries = defineOperation({
  ...ofOrganization,
  id: 'listOrganizationAuditEntries',
  path: '/api/organizations/{id}/audit',
  summary: 'List the audit log of an organization, newest first',
  description: 'For administrators of the organization: its members, keys, credits and webhooks.',
  input: { params: idParams, query: pageQuery.extend(filter.shape) },
  output: page,
});

export const exportOrganizationAuditEntries = defineOperation({
  ...ofOrganization,
  id: 'exportOrganizationAuditEntries',
  path: '/api/organizations/{id}/audit/export',
  summary: 'Export the audit log of an organization as NDJSON, oldest first',
  description: 'The answer is a stream of the entries up to the time of the request.',
  input: { params: idParams, query: filter },
  output: lines,
});
