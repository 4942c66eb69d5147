import type { AuditLog } from '../../operations/audit-log.ts';
import { AUDIT_LOG, GRANT_INTENTS } from '../../operations/audit-records.ts';
import { findAll, type PersonalData } from '../../operations/personal-data.ts';
import type { Store } from '../../ports/store.ts';

/** Entries outlive the user under a pseudonym; `forgetUser` replaces the user together with the account. */
export function personalAudit({
  store,
  auditLog,
}: {
  readonly store: Store;
  readonly auditLog: AuditLog;
}): PersonalData {
  return {
    async eraseTraces(userId) {
      for await (const { id, account, actor } of findAll(store, GRANT_INTENTS, {})) {
        const isTheirs = account === `user:${userId}` || actor.userId === userId;
        if (isTheirs) await store.collection(GRANT_INTENTS).take(id);
      }
      // An organization that ends with its last member is part of that person.
      const ended = { action: 'organization.deleted', mentions: { has: userId } } as const;
      for await (const { targetId, targetOwner } of findAll(store, AUDIT_LOG, ended)) {
        if (targetOwner === userId) await auditLog.forgetOrganization(targetId);
      }
    },
  };
}
