import { PROVIDER_KEYS, type ProviderKeyRecord } from '../../models/provider-keys-records.ts';
import { defineAuditSource, listChanges } from '../../operations/audit-source.ts';

export const providerKeyAudit = defineAuditSource<ProviderKeyRecord>({
  collection: PROVIDER_KEYS,
  inserts: true,
  deletions: true,
  fields: ['isActive'],
  toEntries(change) {
    const { before, after } = change;
    const { id = '', userId = '' } = after ?? before ?? {};
    const about = { target: { type: 'provider_key', id }, targetOwner: userId };
    const changes = listChanges(change, ['name', 'service', 'isActive']);
    if (before === undefined) return [{ ...about, action: 'provider_key.created', changes }];
    if (after === undefined) return [{ ...about, action: 'provider_key.deleted', changes }];
    // The key that was active before ends with the same act.
    if (before.isActive || !after.isActive) return [];
    return [{ ...about, action: 'provider_key.activated', changes }];
  },
});
