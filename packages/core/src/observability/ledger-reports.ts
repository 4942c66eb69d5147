import type { CreditLedger } from '../ports/ledger.ts';

/** The optional calls of a ledger, for a ledger that wraps it. */
export function passReports(ledger: CreditLedger): Pick<CreditLedger, 'sumCharges' | 'exportEntries'> {
  const { sumCharges, exportEntries } = ledger;
  return {
    ...(sumCharges && { sumCharges: sumCharges.bind(ledger) }),
    ...(exportEntries && { exportEntries: exportEntries.bind(ledger) }),
  };
}
