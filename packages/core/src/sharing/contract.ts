import * as z from 'zod';
import { emailAddress } from '../http/email.ts';
import { idParams } from '../http/identifiers.ts';
import { numberedQuery, pagination } from '../http/pages.ts';
import { text } from '../http/text.ts';
import { defineOperation } from '../operation.ts';
import { INVITE_STATES, PERMISSIONS } from './records.ts';
import type { Resource } from './resource.ts';

const invite = z.object({
  _id: z.string(),
  type: z.string(),
  resourceId: z.string(),
  email: z.string(),
  permission: z.enum(PERMISSIONS),
  status: z.enum(INVITE_STATES),
  invitedBy: z.string(),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime().nullable(),
});

export type WireInvite = z.input<typeof invite>;

const done = z.object({ success: z.boolean(), message: z.string() });

const common = {
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  owner: 'caller-or-shared',
  family: 'application',
} as const;

const notTheirs = { status: 403, description: 'The caller may read it, and no more.' } as const;

/** The operations that every kind of thing has. */
export function resourceOperations({ type, subject, schema }: Pick<Resource, 'type' | 'subject' | 'schema'>) {
  const path = `/api/${type}/{id}` as const;
  return {
    read: defineOperation({
      ...common,
      id: `read${subject}`,
      method: 'GET',
      path,
      summary: `Read one: ${type}`,
      subject,
      input: { params: idParams },
      output: { 200: { description: 'It.', schema } },
    }),

    listInvites: defineOperation({
      ...common,
      id: `list${subject}Invites`,
      method: 'GET',
      path: `${path}/invites`,
      summary: `List whom somebody was invited with, newest first: ${type}`,
      subject,
      input: {
        params: idParams,
        query: numberedQuery().extend({
          search: text({ max: 200 }).optional().meta({ description: 'Part of the e-mail address.' }),
          sort: z.enum(['createdAt']).optional(),
        }),
      },
      output: { 200: { description: 'A page.', schema: z.object({ invites: z.array(invite), pagination }) } },
      refusals: [notTheirs],
    }),

    createInvite: defineOperation({
      ...common,
      id: `create${subject}Invite`,
      method: 'POST',
      path: `${path}/invites`,
      summary: `Offer somebody a share: ${type}`,
      subject,
      input: {
        params: idParams,
        body: z.object({
          email: emailAddress,
          permission: z.enum(PERMISSIONS).default('read'),
          expiresAt: z.iso.datetime({ offset: true }).optional(),
        }),
      },
      output: { 201: { description: 'The invite.', schema: invite } },
      refusals: [notTheirs, { status: 409, description: 'The address has a pending invite to it already.' }],
    }),

    revokeSharing: defineOperation({
      ...common,
      id: `revoke${subject}Sharing`,
      method: 'POST',
      path: `${path}/revokeSharing`,
      summary: `Shut somebody out again, or everybody: ${type}`,
      subject,
      input: {
        params: idParams,
        body: z.object({ userId: z.string().optional().meta({ description: 'Absent: everybody.' }) }),
      },
      output: { 200: { description: 'They have no share in it any more.', schema: done } },
      refusals: [notTheirs],
    }),
  };
}

const ofInvite = { ...common, subject: 'Invite', input: { params: idParams } } as const;
const over = { status: 409, description: 'It is no longer pending.' } as const;

export const readInvite = defineOperation({
  ...ofInvite,
  id: 'readInvite',
  method: 'GET',
  path: '/api/invite/{id}',
  summary: 'Read an invite: whom it is for, who made it, and who may make one like it',
  output: { 200: { description: 'It.', schema: invite } },
});

export const listInvites = defineOperation({
  ...common,
  id: 'listInvites',
  method: 'GET',
  path: '/api/invites',
  summary: 'List the pending invites to the address of the caller, newest first',
  input: { query: numberedQuery().extend({ sort: z.enum(['createdAt']).optional() }) },
  output: { 200: { description: 'A page.', schema: z.object({ invites: z.array(invite), pagination }) } },
});

export const acceptInvite = defineOperation({
  ...ofInvite,
  id: 'acceptInvite',
  method: 'POST',
  path: '/api/invites/{id}/accept',
  summary: 'Take the share that was offered',
  output: { 200: { description: 'It is the caller’s.', schema: done } },
  refusals: [over],
});

export const refuseInvite = defineOperation({
  ...ofInvite,
  id: 'refuseInvite',
  method: 'POST',
  path: '/api/invites/{id}/refuse',
  summary: 'Decline the share that was offered',
  output: { 200: { description: 'It is declined.', schema: done } },
  refusals: [over],
});
