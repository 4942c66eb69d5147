import { defineAuditSource } from '../../operations/audit-source.ts';
import { SHARING_INVITES, type SharingInviteRecord } from './records.ts';

/** Invites to organizations. Those to own sessions and files are no matter of administration. */
export const inviteAudit = defineAuditSource<SharingInviteRecord>({
  collection: SHARING_INVITES,
  inserts: true,
  fields: ['status'],
  toEntries({ before, after }) {
    if (after === undefined || after.type !== 'organization') return [];
    const { id, resourceId, invitedBy, permission, status } = after;
    const about = { target: { type: 'invite', id }, organizationId: resourceId, targetOwner: invitedBy };
    if (before === undefined) {
      const changes = [{ field: 'permission', after: permission }];
      return [{ ...about, action: 'organization.member_invited', changes }];
    }
    // An accepted invite that is revoked is a member who is removed.
    if (before.status !== 'pending' || status !== 'revoked') return [];
    return [{ ...about, action: 'organization.invite_revoked' }];
  },
});
