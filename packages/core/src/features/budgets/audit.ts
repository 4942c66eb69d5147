import { BUDGETS, type BudgetRecord } from '../../credits/budget-rules.ts';
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
    const { id = '', scope, scopeId, userId } = after ?? before ?? {};
    const about = {
      target: { type: 'budget', id },
      organizationId: scope === 'organization' ? scopeId : undefined,
      targetOwner: userId ?? undefined,
    };
    const changes = listChanges(change, SHOWN);
    if (before === undefined) return [{ ...about, action: 'budget.created', changes }];
    if (after === undefined) return [{ ...about, action: 'budget.deleted', changes }];
    return changes.length === 0 ? [] : [{ ...about, action: 'budget.updated', changes }];
  },
});
