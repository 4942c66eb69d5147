import { API_KEYS, type ApiKeyRecord } from '../../identity/records.ts';
import { defineAuditSource, listChanges } from '../../operations/audit-source.ts';

const SHOWN = [
  'name',
  'scopes',
  'mode',
  'expiresAt',
  'requestsPerMinute',
  'requestsPerDay',
  'spendCap',
  'models',
  'organizationId',
] as const;

export const apiKeyAudit = defineAuditSource<ApiKeyRecord>({
  collection: API_KEYS,
  inserts: true,
  fields: ['hash', 'status', 'revokedFor', ...SHOWN],
  toEntries(change) {
    const { before, after } = change;
    if (after === undefined) return [];
    const { id, userId, organizationId } = after;
    const about = { target: { type: 'key', id }, targetOwner: userId, organizationId };
    const changes = listChanges(change, SHOWN);
    if (before === undefined) return [{ ...about, action: 'key.created', changes }];
    const isRevoked = before.status !== 'disabled' && after.status === 'disabled';
    return [
      ...(isRevoked
        ? [{ ...about, action: 'key.revoked', changes: listChanges(change, ['revokedFor']) } as const]
        : []),
      ...(before.hash === after.hash ? [] : [{ ...about, action: 'key.rotated' } as const]),
      ...(changes.length === 0 ? [] : [{ ...about, action: 'key.updated', changes } as const]),
    ];
  },
});
