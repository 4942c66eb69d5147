import type { CreditLedger } from '../ports/ledger.ts';

/** The optional calls of a ledger, for a ledger that wraps it. */
export function passReports(
  ledger: CreditLedger,
): Pick<CreditLedger, 'renewAll' | 'sumCharges' | 'exportEntries' | 'capUsage'> {
  const { renewAll, sumCharges, exportEntries, capUsage } = ledger;
  return {
    ...(renewAll && { renewAll: renewAll.bind(ledger) }),
    ...(sumCharges && { sumCharges: sumCharges.bind(ledger) }),
    ...(capUsage && { capUsage: capUsage.bind(ledger) }),
    ...(exportEntries && { exportEntries: exportEntries.bind(ledger) }),
  };
}
