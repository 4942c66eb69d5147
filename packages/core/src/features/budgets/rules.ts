import { hash } from 'node:crypto';
import { toCredits } from '../../credits/amounts.ts';
import type { BudgetRecord } from '../../credits/budget-rules.ts';
import type { BudgetWindow } from '../../credits/budget-windows.ts';
import { ApiError, conflict, invalid } from '../../shared/errors.ts';

/** Maximum number of budgets of one scope, because each call checks all of them. */
const MAX_BUDGETS = 20;

type Signed = Pick<
  BudgetRecord,
  'subject' | 'models' | 'window' | 'timeZone' | 'unit' | 'action' | 'managedBy'
>;

/** Two rules with one signature would contradict each other: the amount of one of them would have no effect. */
export function getSignature({ subject, models, window, timeZone, unit, action, managedBy }: Signed): string {
  const sorted = models === null ? null : models.toSorted();
  const parts = [subject, sorted, window, timeZone.toLowerCase(), unit, action, managedBy];
  return hash('sha256', JSON.stringify(parts), 'hex');
}

/** @throws ApiError 422 for a unit without a window, or calls at the same time in a window. */
export function getWindow(unit: BudgetRecord['unit'], window: BudgetWindow | undefined): BudgetWindow {
  if (unit === 'concurrent') {
    if (window === undefined || window === 'total') return 'total';
    throw invalid('window', 'expected total, because concurrent counts calls at the same time');
  }
  if (window === undefined) throw invalid('window', 'expected minute, hour, day, week, month or total');
  return window;
}

/** E.g. `100 credits per month for this user`. */
export function getDefaultName({
  scope,
  unit,
  amount,
  window,
}: Pick<BudgetRecord, 'scope' | 'unit' | 'amount' | 'window'>): string {
  const count = unit === 'credits' ? toCredits(amount) : amount;
  const of = unit === 'concurrent' ? 'requests at the same time' : unit;
  const per = unit === 'concurrent' ? '' : window === 'total' ? ' in total' : ` per ${window}`;
  return `${count} ${of}${per} for ${scope === 'everyone' ? scope : `this ${scope}`}`;
}

/** @throws ApiError 400 if the scope has the maximum number of budgets. */
export function checkCount(count: number): void {
  if (count < MAX_BUDGETS) return;
  throw new ApiError(400, `The scope has the maximum of ${MAX_BUDGETS} budgets; delete one first`, {
    applicationCode: 'BUDGET_CAP',
  });
}

export function duplicate(): ApiError {
  return conflict('A budget for the same calls, unit, window and action exists; change its amount instead');
}
