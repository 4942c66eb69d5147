import { toCredits } from '../../credits/amounts.ts';
import { BUDGETS, type BudgetRecord } from '../../credits/budget-rules.ts';
import type { AuditChange } from '../../operations/audit-records.ts';
import { defineAuditSource, listChanges } from '../../operations/audit-source.ts';

const SHOWN = [
  'name',
  'scope',
  'scopeId',
  'models',
  'window',
  'unit',
  'amount',
  'action',
  'ownKeys',
] as const;

export const budgetAudit = defineAuditSource<BudgetRecord>({
  collection: BUDGETS,
  inserts: true,
  deletions: true,
  fields: [...SHOWN],
  toEntries(change) {
    const { before, after } = change;
    const { id = '', scope, scopeId, userId, unit } = after ?? before ?? {};
    const about = {
      target: { type: 'budget', id },
      organizationId: scope === 'organization' ? scopeId : undefined,
      targetOwner: userId ?? undefined,
    };
    const changes = listChanges(change, SHOWN).map((one) => showAmount(one, unit));
    if (before === undefined) return [{ ...about, action: 'budget.created', changes }];
    if (after === undefined) return [{ ...about, action: 'budget.deleted', changes }];
    return changes.length === 0 ? [] : [{ ...about, action: 'budget.updated', changes }];
  },
});

/** Shows an amount in the unit of the API: credits instead of micro-credits. */
function showAmount(change: AuditChange, unit: BudgetRecord['unit'] | undefined): AuditChange {
  const { field, before, after } = change;
  if (field !== 'amount' || unit !== 'credits') return change;
  return {
    field,
    ...(typeof before === 'number' && { before: toCredits(before) }),
    ...(typeof after === 'number' && { after: toCredits(after) }),
  };
}
