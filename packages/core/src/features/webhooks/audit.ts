import type { NewAuditEntry } from '../../operations/audit.ts';
import { type AuditedChange, defineAuditSource, listChanges } from '../../operations/audit-source.ts';
import { WEBHOOKS, type WebhookRecord } from './records.ts';

export const webhookAudit = defineAuditSource<WebhookRecord>({
  collection: WEBHOOKS,
  inserts: true,
  deletions: true,
  fields: ['url', 'types', 'description', 'status', 'sealedSecret'],
  toEntries(change) {
    const { before, after } = change;
    const { id = '', organizationId = null, createdBy = '' } = after ?? before ?? {};
    const about = { target: { type: 'webhook', id }, organizationId, targetOwner: createdBy };
    const changes = toChanges(change);
    if (before === undefined) return [{ ...about, action: 'webhook.created', changes }];
    if (after === undefined) return [{ ...about, action: 'webhook.deleted', changes }];
    const entries: NewAuditEntry[] = [];
    if (before.status !== after.status) {
      const action = after.status === 'disabled' ? 'webhook.disabled' : 'webhook.enabled';
      entries.push({ ...about, action, changes: listChanges(change, ['disabledFor']) });
    }
    if (before.sealedSecret !== after.sealedSecret) {
      entries.push({ ...about, action: 'webhook.secret_rotated' });
    }
    if (changes.length > 0) entries.push({ ...about, action: 'webhook.updated', changes });
    return entries;
  },
});

/** Path and query of an address can be secrets of its receiver: only the origin is recorded. */
function toChanges(change: AuditedChange<WebhookRecord>) {
  return [
    ...listChanges(change, ['url']).map(({ field, before, after }) => ({
      field,
      ...(before !== undefined && { before: getOrigin(before) }),
      ...(after !== undefined && { after: getOrigin(after) }),
    })),
    ...listChanges(change, ['types', 'description']),
  ];
}

function getOrigin(url: unknown): string {
  return URL.canParse(String(url)) ? new URL(String(url)).origin : '';
}
