import type { CreditLedger } from '../ports/ledger.ts';

/** The optional calls of a ledger, for a ledger that wraps it. */
export function passReports(
  ledger: CreditLedger,
): Pick<
  CreditLedger,
  'renewAll' | 'sumCharges' | 'exportEntries' | 'capUsage' | 'archiveCharges' | 'countArchivable'
> {
  const { renewAll, sumCharges, exportEntries, capUsage, archiveCharges, countArchivable } = ledger;
  return {
    ...(renewAll && { renewAll: renewAll.bind(ledger) }),
    ...(sumCharges && { sumCharges: sumCharges.bind(ledger) }),
    ...(capUsage && { capUsage: capUsage.bind(ledger) }),
    ...(exportEntries && { exportEntries: exportEntries.bind(ledger) }),
    ...(archiveCharges && { archiveCharges: archiveCharges.bind(ledger) }),
    ...(countArchivable && { countArchivable: countArchivable.bind(ledger) }),
  };
}
