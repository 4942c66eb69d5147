import type { CreditLedger, JobQueue } from '@questline/core/ports';

/** The ledger of the home database. Settlements are steps of their own, because records are elsewhere. */
export function createHomeLedger(ledger: CreditLedger): CreditLedger {
  const { toSettlement: _, ...rest } = copyLedger(ledger);
  return rest;
}

/** A ledger of which calls can be replaced. */
export function copyLedger(ledger: CreditLedger): CreditLedger {
  const { toSettlement, renewAll, sumCharges, exportEntries, capUsage, archiveCharges, countArchivable } =
    ledger;
  return {
    balance: (...args) => ledger.balance(...args),
    hold: (...args) => ledger.hold(...args),
    renew: (...args) => ledger.renew(...args),
    settle: (...args) => ledger.settle(...args),
    release: (...args) => ledger.release(...args),
    record: (...args) => ledger.record(...args),
    grant: (...args) => ledger.grant(...args),
    entries: (...args) => ledger.entries(...args),
    charges: (...args) => ledger.charges(...args),
    spent: (...args) => ledger.spent(...args),
    ...(toSettlement && { toSettlement: (...args) => toSettlement.call(ledger, ...args) }),
    ...(renewAll && { renewAll: (...args) => renewAll.call(ledger, ...args) }),
    ...(sumCharges && { sumCharges: (...args) => sumCharges.call(ledger, ...args) }),
    ...(exportEntries && { exportEntries: (...args) => exportEntries.call(ledger, ...args) }),
    ...(capUsage && { capUsage: (...args) => capUsage.call(ledger, ...args) }),
    ...(archiveCharges && { archiveCharges: (...args) => archiveCharges.call(ledger, ...args) }),
    ...(countArchivable && { countArchivable: (...args) => countArchivable.call(ledger, ...args) }),
    capUsed: (...args) => ledger.capUsed(...args),
    sweep: (...args) => ledger.sweep(...args),
  };
}

/** A queue of which calls can be replaced. */
export function copyQueue(queue: JobQueue): JobQueue {
  const { findKeys, writes } = queue;
  return {
    enqueue: (...args) => queue.enqueue(...args),
    lease: (...args) => queue.lease(...args),
    renew: (...args) => queue.renew(...args),
    finish: (...args) => queue.finish(...args),
    retry: (...args) => queue.retry(...args),
    onReady: (listener) => queue.onReady(listener),
    counts: (...args) => queue.counts(...args),
    ...(findKeys && { findKeys: (...args) => findKeys.call(queue, ...args) }),
    ...(writes && { writes }),
  };
}
