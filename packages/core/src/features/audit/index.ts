import { recoverGrants } from '../../operations/audit-grants.ts';
import type { AuditLog } from '../../operations/audit-log.ts';
import { AUDIT_LOG, GRANT_INTENTS } from '../../operations/audit-records.ts';
import type { ExamplesFile, ServicesFor } from '../../operations/feature-parts.ts';
import type { Clock } from '../../ports/clock.ts';
import { auditRoutes } from './handlers.ts';
import { personalAudit } from './personal.ts';

const DAY_MS = 86_400_000;

interface AuditTaskServices {
  readonly clock: Clock;
  readonly auditLog: AuditLog;
  readonly auditRetentionDays: number | null;
}

export const audit = {
  name: 'audit',
  examples: (): Promise<ExamplesFile> => import('./examples.json', { with: { type: 'json' } }),
  collections: [AUDIT_LOG, GRANT_INTENTS],
  routes: (services: ServicesFor<typeof auditRoutes>) => auditRoutes(services),
  personal: (services: ServicesFor<typeof personalAudit>) => personalAudit(services),
  periodicTasks: (services: AuditTaskServices & ServicesFor<typeof recoverGrants>) => [
    {
      name: 'recover-audited-grants',
      everyMs: 600_000,
      atStart: true,
      run: () => recoverGrants(services),
    },
    {
      name: 'delete-old-audit-entries',
      everyMs: 600_000,
      async run() {
        const { clock, auditLog, auditRetentionDays: days } = services;
        if (days !== null) await auditLog.deleteBefore(clock.now() - days * DAY_MS);
      },
    },
  ],
};
