import { defineAuditSource, listChanges } from '../../operations/audit-source.ts';
import { REGISTRATION_INVITES, type RegistrationInviteRecord } from './invite-records.ts';

export const registrationInviteAudit = defineAuditSource<RegistrationInviteRecord>({
  collection: REGISTRATION_INVITES,
  inserts: true,
  deletions: true,
  fields: [],
  toEntries(change) {
    const { id = '', createdBy = '' } = change.after ?? change.before ?? {};
    const action = change.before === undefined ? 'created' : 'deleted';
    return [
      {
        action: `registration_invite.${action}`,
        target: { type: 'registration_invite', id },
        targetOwner: createdBy,
        changes: listChanges(change, ['usesLeft', 'startingCredits']),
      },
    ];
  },
});
