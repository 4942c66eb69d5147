import * as z from 'zod';
import { PERMISSIONS } from '../../access/access.ts';
import type { AuditAction } from '../../contract/audit.ts';
import { emailAddress } from '../../contract/email.ts';
import { idParams } from '../../contract/identifiers.ts';
import { defineOperation } from '../../contract/operation.ts';
import { numberedQuery, pagination } from '../../contract/pages.ts';
import { text } from '../../contract/text.ts';
import { INVITE_STATES } from './records.ts';
import type { ResourceKind } from './resource.ts';

const named = z
  .object({
    type: z.string().meta({ description: 'The kind of the resource: the word in its path.' }),
    id: z.string().meta({ description: 'The id of the resource.' }),
    name: z.string().meta({ description: 'The name or title of the resource.' }),
  })
  .meta({ description: 'The shared resource.' });

const sender = z
  .object({
    name: z.string().meta({ description: 'The user name of the sender.' }),
    email: z.string().meta({ description: 'The verified e-mail address of the sender.' }),
  })
  .nullable()
  .meta({ description: 'The user who sends the invite; null after the deletion of the account.' });

const invite = z.object({
  _id: z.string().describe('The id of the invite.'),
  type: z.string().describe('The kind of the shared resource.'),
  resourceId: z.string().describe('The id of the shared resource.'),
  resource: named,
  email: z.string().describe('The e-mail address of the invited user.'),
  permission: z.enum(PERMISSIONS).describe('What the invited user may do with the resource.'),
  status: z.enum(INVITE_STATES).describe('The state of the invite.'),
  invitedBy: z.string().describe('The id of the user who sent the invite.'),
  sender,
  createdAt: z.iso.datetime().describe('The time of the invite.'),
  expiresAt: z.iso
    .datetime()
    .nullable()
    .describe('The time at which the invite ends; null for an invite that does not expire.'),
});

export type WireInvite = z.input<typeof invite>;

const done = z.object({
  success: z.boolean().describe('Whether the operation did what it says.'),
  message: z.string().describe('A confirmation, for people.'),
});

const common = {
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  owner: 'caller-or-shared',
  family: 'application',
  tag: 'Sharing',
} as const;

const notTheirs = { status: 403, description: 'The caller has only read access.' } as const;

/** Only the members of organizations are a matter of administration. */
function audits(type: string, audit: readonly AuditAction[]) {
  return type === 'organization' ? { audit } : {};
}

export type ResourceOperations = ReturnType<typeof toOperations>;

/** Describes a shareable kind. @param schema the fields of the response. */
export function defineResourceKind(type: string, subject: string, schema: z.ZodType): ResourceKind {
  return { type, subject, operations: toOperations(type, subject, schema) };
}

function toOperations(type: string, subject: string, schema: z.ZodType) {
  const path = `/api/${type}/{id}` as const;
  return {
    read: defineOperation({
      ...common,
      id: `read${subject}`,
      method: 'GET',
      path,
      summary: `Get a shared resource: ${type}`,
      description: 'Answers the owner and users with whom it is shared; all others get 404.',
      subject,
      input: { params: idParams },
      output: { 200: { description: 'The resource.', schema } },
    }),

    listInvites: defineOperation({
      ...common,
      id: `list${subject}Invites`,
      method: 'GET',
      path: `${path}/invites`,
      summary: `List invites, newest first: ${type}`,
      description:
        'For the owner and users with write permission. Filter, sort and page with the query parameters.',
      subject,
      input: {
        params: idParams,
        query: numberedQuery().extend({
          search: text({ max: 200 }).optional().meta({ description: 'Text in the e-mail address.' }),
          sort: z.enum(['createdAt']).optional().describe('The field to order by. Default: `createdAt`.'),
        }),
      },
      output: {
        200: {
          description: 'A page.',
          schema: z.object({ invites: z.array(invite).describe('The invites of this page.'), pagination }),
        },
      },
      refusals: [notTheirs],
    }),

    createInvite: defineOperation({
      ...common,
      ...audits(type, ['organization.member_invited']),
      id: `create${subject}Invite`,
      method: 'POST',
      path: `${path}/invites`,
      summary: `Invite a user: ${type}`,
      description:
        'Mails an invite to the address. The user who accepts it gets the permission. Use `listInvites` for the own invites.',
      subject,
      input: {
        params: idParams,
        body: z.object({
          email: emailAddress.describe('The e-mail address of the user to invite.'),
          permission: z.enum(PERMISSIONS).default('read').meta({
            description: 'What the share permits. `write`: also change it; neither share nor delete it.',
          }),
          expiresAt: z.iso
            .datetime({ offset: true })
            .optional()
            .describe('The time at which the invite ends. Default: it does not expire.'),
        }),
      },
      output: { 201: { description: 'The invite.', schema: invite } },
      refusals: [notTheirs, { status: 409, description: 'The address already has a pending invite.' }],
    }),

    revokeSharing: defineOperation({
      ...common,
      ...audits(type, ['organization.member_removed', 'organization.invite_revoked', 'key.revoked']),
      id: `revoke${subject}Sharing`,
      method: 'POST',
      path: `${path}/revokeSharing`,
      summary: `Revoke the share of one user or of all users: ${type}`,
      description: 'The user loses access at once. Pending invites end, too.',
      subject,
      input: {
        params: idParams,
        body: z.object({
          userId: z
            .string()
            .optional()
            .meta({ description: 'The user who loses the share. Absent: all users.' }),
        }),
      },
      output: { 200: { description: 'The share is revoked.', schema: done } },
      refusals: [notTheirs],
    }),

    leave: defineOperation({
      ...common,
      ...audits(type, ['organization.member_removed', 'organization.invite_revoked', 'key.revoked']),
      id: `leave${subject}`,
      method: 'POST',
      path: `${path}/leave`,
      summary: `End the share of the caller: ${type}`,
      description: 'The resource itself does not change. Its owner cannot leave it.',
      subject,
      input: { params: idParams },
      output: { 200: { description: 'The share has ended.', schema: done } },
      refusals: [{ status: 409, description: 'The caller owns it, or has no share of it.' }],
    }),
  };
}

const ofInvite = { ...common, subject: 'Invite', input: { params: idParams } } as const;
const over = { status: 409, description: 'The invite is not pending any more.' } as const;

export const readInvite = defineOperation({
  ...ofInvite,
  id: 'readInvite',
  method: 'GET',
  path: '/api/invite/{id}',
  summary: 'Get an invite: its recipient, its creator, and the users who may invite',
  description: 'Visible to the recipient and to users who may share the resource.',
  output: { 200: { description: 'The invite.', schema: invite } },
});

export const listInvites = defineOperation({
  ...common,
  id: 'listInvites',
  method: 'GET',
  path: '/api/invites',
  summary: 'List the pending invites to the address of the caller, newest first',
  description: 'Filter, sort and page with the query parameters.',
  input: {
    query: numberedQuery().extend({
      sort: z.enum(['createdAt']).optional().describe('The field to order by. Default: `createdAt`.'),
    }),
  },
  output: {
    200: {
      description: 'A page.',
      schema: z.object({ invites: z.array(invite).describe('The invites of this page.'), pagination }),
    },
  },
});

export const acceptInvite = defineOperation({
  ...ofInvite,
  audit: ['organization.member_added', 'organization.member_role_changed'],
  id: 'acceptInvite',
  method: 'POST',
  path: '/api/invites/{id}/accept',
  summary: 'Accept an invite',
  description: 'The resource is shared with the caller from now on.',
  output: {
    200: { description: 'The resource is shared with the caller.', schema: done.extend({ resource: named }) },
  },
  refusals: [over],
});

export const refuseInvite = defineOperation({
  ...ofInvite,
  id: 'refuseInvite',
  method: 'POST',
  path: '/api/invites/{id}/refuse',
  summary: 'Decline an invite',
  description: 'The invite ends. The sender can send a new one.',
  output: { 200: { description: 'The invite is declined.', schema: done } },
  refusals: [over],
});
