import { ADMIN_SETTINGS, type AdminSettingRecord } from '../../operations/admin-settings.ts';
import { defineAuditSource, listChanges } from '../../operations/audit-source.ts';

export const settingAudit = defineAuditSource<AdminSettingRecord>({
  collection: ADMIN_SETTINGS,
  inserts: true,
  fields: ['value'],
  toEntries(change) {
    const { before, after } = change;
    if (after === undefined) return [];
    const changes = listChanges(change, ['value']);
    if (before !== undefined && changes.length === 0) return [];
    return [{ action: 'setting.changed', target: { type: 'setting', id: after.id }, changes }];
  },
});
