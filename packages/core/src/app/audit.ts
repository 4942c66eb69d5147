import type { AuditedLedger, AuditedStore } from '../operations/audit.ts';
import { captureAudit } from '../operations/audit-capture.ts';
import { auditGrants } from '../operations/audit-grants.ts';
import type { Clock } from '../ports/clock.ts';
import type { CreditLedger } from '../ports/ledger.ts';
import type { Store } from '../ports/store.ts';
import { FEATURES } from './features.ts';

/** Returns a store and a ledger that record administrative acts. */
export function wireAudit(ports: {
  readonly store: Store;
  readonly ledger: CreditLedger;
  readonly clock: Clock;
}): { readonly store: AuditedStore; readonly ledger: AuditedLedger } {
  const sources = FEATURES.flatMap(({ auditSources = [] }) => auditSources);
  const store = captureAudit(ports.store, sources, ports.clock);
  return { store, ledger: auditGrants({ ...ports, store }) };
}
