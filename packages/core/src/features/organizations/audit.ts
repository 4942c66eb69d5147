import type { NewAuditEntry } from '../../operations/audit.ts';
import { type AuditedChange, defineAuditSource, listChanges } from '../../operations/audit-source.ts';
import { ORGANIZATIONS, type OrganizationRecord } from './records.ts';

const SHOWN = ['name', 'description', 'models', 'subscriptionTier', 'subscriptionStatus'] as const;

export const organizationAudit = defineAuditSource<OrganizationRecord>({
  collection: ORGANIZATIONS,
  inserts: true,
  deletions: true,
  fields: ['ownerId', 'readerIds', 'writerIds', ...SHOWN],
  toEntries(change) {
    const { before, after } = change;
    const { id = '', ownerId = '' } = after ?? before ?? {};
    const about = {
      target: { type: 'organization', id },
      organizationId: id,
      targetOwner: ownerId,
    };
    const changes = listChanges(change, SHOWN);
    if (before === undefined) return [{ ...about, action: 'organization.created', changes }];
    if (after === undefined) return [{ ...about, action: 'organization.deleted', changes }];
    return [
      ...(changes.length === 0 ? [] : [{ ...about, action: 'organization.updated', changes } as const]),
      ...toMemberEntries({ ...about, targetOwner: undefined }, { before, after }),
    ];
  },
});

/** A transfer also moves the former owner to the administrators: that is one act. */
function toMemberEntries(
  about: Pick<NewAuditEntry, 'target' | 'organizationId' | 'targetOwner'>,
  change: Required<AuditedChange<OrganizationRecord>>,
): NewAuditEntry[] {
  const { before, after } = change;
  if (before.ownerId !== after.ownerId) {
    return [{ ...about, action: 'organization.transferred', changes: listChanges(change, ['ownerId']) }];
  }
  const [old, next] = [getRoles(before), getRoles(after)];
  return [...new Set([...old.keys(), ...next.keys()])].flatMap((userId): NewAuditEntry[] => {
    const [was, is] = [old.get(userId), next.get(userId)];
    if (was === is) return [];
    const role = {
      field: 'role',
      ...(was !== undefined && { before: was }),
      ...(is !== undefined && { after: is }),
    };
    const action =
      was === undefined ? 'member_added' : is === undefined ? 'member_removed' : 'member_role_changed';
    const member =
      is === undefined ? { field: 'userId', before: userId } : { field: 'userId', after: userId };
    return [{ ...about, action: `organization.${action}`, changes: [member, role] }];
  });
}

function getRoles({ readerIds = [], writerIds = [] }: OrganizationRecord): ReadonlyMap<string, string> {
  return new Map([
    ...readerIds.map((id) => [id, 'member'] as const),
    ...writerIds.map((id) => [id, 'administrator'] as const),
  ]);
}
