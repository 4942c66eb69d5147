import { USERS, type UserRecord } from '../../identity/records.ts';
import type { NewAuditEntry } from '../../operations/audit.ts';
import { type AuditedChange, defineAuditSource, listChanges } from '../../operations/audit-source.ts';

const PROFILE = ['username', 'firstName', 'lastName', 'email', 'tier'] as const;

export const userAudit = defineAuditSource<UserRecord>({
  collection: USERS,
  inserts: true,
  fields: ['isAdmin', 'disabled', ...PROFILE],
  toEntries(change, actor) {
    const { before, after } = change;
    if (after === undefined) return [];
    const about = { target: { type: 'user', id: after.id }, targetOwner: after.id };
    if (before === undefined) {
      const changes = listChanges(change, ['isAdmin', 'startingCredits']);
      return [{ ...about, action: 'user.created', changes }];
    }
    const profile = listChanges(change, PROFILE);
    // The own name and address are no matter of administration.
    const isOwn = actor.userId === after.id;
    return [
      ...toAccessEntries(about, change),
      ...(profile.length === 0 || isOwn
        ? []
        : [{ ...about, action: 'user.updated', changes: profile } as const]),
    ];
  },
});

function toAccessEntries(
  about: Pick<NewAuditEntry, 'target' | 'targetOwner'>,
  change: AuditedChange<UserRecord>,
): NewAuditEntry[] {
  const role = listChanges(change, ['isAdmin']);
  const access = listChanges(change, ['disabled']);
  const action = change.after?.disabled === true ? 'user.disabled' : 'user.enabled';
  return [
    ...(role.length === 0 ? [] : [{ ...about, action: 'user.role_changed', changes: role } as const]),
    ...(access.length === 0 ? [] : [{ ...about, action, changes: access } as const]),
  ];
}
