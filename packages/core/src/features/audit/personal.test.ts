import { expect, it } from 'vitest';
import { withLateWrites } from '../../../test/late-store.ts';
import { createMemoryStore } from '../../memory/store.ts';
import type { AuditLog } from '../../operations/audit-log.ts';
import {
  AUDIT_LOG,
  type AuditRecord,
  GRANT_INTENTS,
  type GrantIntentRecord,
} from '../../operations/audit-records.ts';
import { personalAudit } from './personal.ts';

async function setUp() {
  const store = createMemoryStore();
  const forgotten: string[] = [];
  const auditLog = {
    async forgetOrganization(id) {
      await new Promise(setImmediate);
      forgotten.push(id);
    },
  } as Partial<AuditLog> as AuditLog;
  return { store, forgotten, personal: personalAudit({ store: withLateWrites(store), auditLog }) };
}

it('deletes the unfinished grants to and by a deleted user', async () => {
  const { store, personal } = await setUp();
  const intents = store.collection(GRANT_INTENTS);
  const add = (id: string, account: string, userId: string) =>
    intents.insert({
      ...{ id, account, actor: { type: 'user', userId }, checkAt: 1 },
    } as Partial<GrantIntentRecord> as GrantIntentRecord);
  await add('to', 'user:ada', 'root');
  await add('by', 'user:bob', 'ada');
  await add('other', 'user:bob', 'root');
  await personal.eraseTraces?.('ada', new Set());
  expect((await intents.find({})).map(({ id }) => id)).toEqual(['other']);
});

it('forgets the organizations that ended with a deleted user, not those of others', async () => {
  const { store, personal, forgotten } = await setUp();
  const add = (targetId: string, targetOwner: string, more: Partial<AuditRecord> = {}) =>
    store.collection(AUDIT_LOG).insert({
      ...{ id: `e-${targetId}`, action: 'organization.deleted', targetId, targetOwner, mentions: ['ada'] },
      ...more,
    } as Partial<AuditRecord> as AuditRecord);
  await add('own', 'ada');
  await add('of-bob', 'bob');
  await add('living', 'ada', { action: 'organization.updated' });
  await add('elsewhere', 'ada', { mentions: ['bob'] });
  await personal.eraseTraces?.('ada', new Set());
  expect(forgotten).toEqual(['own']);
});
