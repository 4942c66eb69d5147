import { defineEventSource } from '../../events/source.ts';
import { SHARING_INVITES, type SharingInviteRecord } from './records.ts';

export const inviteEvents = defineEventSource<SharingInviteRecord>({
  collection: SHARING_INVITES,
  matches: ({ status }) => status === 'accepted',
  toEvents({ before, after }) {
    const { id, type, resourceId, invitedBy, acceptedBy } = after;
    if (before?.status === 'accepted' || after.status !== 'accepted' || acceptedBy === undefined) return [];
    const data = { id, userId: acceptedBy, resourceType: type, resourceId, invitedBy };
    return [{ type: 'invite.accepted', data }];
  },
});
