import type { CreditLedger } from '../ports/ledger.ts';

/** The optional calls of a ledger, for a ledger that wraps it. */
export function passReports(
  ledger: CreditLedger,
): Pick<CreditLedger, 'sumCharges' | 'exportEntries' | 'capUsage'> {
  const { sumCharges, exportEntries, capUsage } = ledger;
  return {
    ...(sumCharges && { sumCharges: sumCharges.bind(ledger) }),
    ...(capUsage && { capUsage: capUsage.bind(ledger) }),
    ...(exportEntries && { exportEntries: exportEntries.bind(ledger) }),
  };
}
