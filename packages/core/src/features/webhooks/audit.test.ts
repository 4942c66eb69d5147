import { describe, expect, it } from 'vitest';
import { SERVICE_ACTOR } from '../../operations/audit.ts';
import type { AuditedChange } from '../../operations/audit-source.ts';
import { webhookAudit } from './audit.ts';
import type { WebhookRecord } from './records.ts';

const WEBHOOK: WebhookRecord = {
  id: 'w',
  owner: 'organization:o',
  organizationId: 'o',
  createdBy: 'ada',
  url: 'https://hooks.example.com/in?token=1',
  description: 'CI',
  types: ['quest.done'],
  status: 'active',
  sealedSecret: 'sealed',
  createdAt: 1,
};
const ABOUT = { target: { type: 'webhook', id: 'w' }, organizationId: 'o', targetOwner: 'ada' };

const entries = (change: { before?: WebhookRecord; after?: WebhookRecord }) =>
  webhookAudit.toEntries(change as AuditedChange<WebhookRecord>, SERVICE_ACTOR);
const changed = (more: Partial<WebhookRecord>, before: Partial<WebhookRecord> = {}) =>
  entries({ before: { ...WEBHOOK, ...before }, after: { ...WEBHOOK, ...before, ...more } });

describe('the audit log of webhooks', () => {
  it('contains a new and a deleted one, with the origin of its address only', () => {
    const side = (name: 'before' | 'after') => [
      { field: 'url', [name]: 'https://hooks.example.com' },
      { field: 'types', [name]: ['quest.done'] },
      { field: 'description', [name]: 'CI' },
    ];
    expect(entries({ after: WEBHOOK })).toEqual([
      { ...ABOUT, action: 'webhook.created', changes: side('after') },
    ]);
    expect(entries({ before: WEBHOOK })).toEqual([
      { ...ABOUT, action: 'webhook.deleted', changes: side('before') },
    ]);
  });

  it('watches new and deleted webhooks, and each field that an entry names', () => {
    expect([webhookAudit.inserts, webhookAudit.deletions]).toEqual([true, true]);
    expect(webhookAudit.fields).toEqual(['url', 'types', 'description', 'status', 'sealedSecret']);
  });

  it('contains why one was disabled, and that it is enabled again', () => {
    const disabled = { status: 'disabled', disabledFor: 'failing' } as const;
    expect(changed(disabled)).toEqual([
      { ...ABOUT, action: 'webhook.disabled', changes: [{ field: 'disabledFor', after: 'failing' }] },
    ]);
    expect(changed({ status: 'active', disabledFor: undefined }, disabled)).toEqual([
      { ...ABOUT, action: 'webhook.enabled', changes: [{ field: 'disabledFor', before: 'failing' }] },
    ]);
  });

  it('contains that the secret changed, without it', () => {
    expect(changed({ sealedSecret: 'other' })).toEqual([{ ...ABOUT, action: 'webhook.secret_rotated' }]);
  });

  it('contains other changes, and nothing for what stays', () => {
    const url = 'https://other.example.com/secret';
    const changes = [
      { field: 'url', before: 'https://hooks.example.com', after: 'https://other.example.com' },
      { field: 'types', before: ['quest.done'], after: [] },
    ];
    expect(changed({ url, types: [] })).toEqual([{ ...ABOUT, action: 'webhook.updated', changes }]);
    expect(changed({ lastSuccessAt: 5 })).toEqual([]);
  });

  it('shows nothing of an address that is no URL', () => {
    expect(changed({ url: 'https://other.example.com' }, { url: 'secret' })).toMatchObject([
      { changes: [{ field: 'url', before: '', after: 'https://other.example.com' }] },
    ]);
  });
});
