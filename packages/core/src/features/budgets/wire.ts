import { fromCredits, toCredits } from '../../credits/amounts.ts';
import type { BudgetRecord, CurrentBudget } from '../../credits/budget-rules.ts';
import type { CapUsage } from '../../ports/caps.ts';
import { invalid } from '../../shared/errors.ts';
import type { WireBudget } from './contract.ts';

export function toWireBudget(
  { rule, range }: CurrentBudget,
  { spent, reserved }: CapUsage,
  editable: boolean,
): WireBudget {
  const { id, name, scope, scopeId, models, window, timeZone, unit, amount, action } = rule;
  const toWire = (units: number): number => (unit === 'credits' ? toCredits(units) : units);
  return {
    id,
    name,
    scope,
    scopeId,
    models: models === null ? null : [...models],
    window,
    timeZone,
    limit: { unit, amount: toWire(amount) },
    action,
    ownKeys: rule.ownKeys,
    managedBy: rule.managedBy,
    editable,
    spent: toWire(spent),
    reserved: toWire(reserved),
    left: toWire(Math.max(0, amount - spent - reserved)),
    windowStart: toTime(range?.start),
    windowEnd: toTime(range?.end),
    createdAt: new Date(rule.createdAt).toISOString(),
  };
}

function toTime(instant: number | undefined): string | null {
  return instant === undefined ? null : new Date(instant).toISOString();
}

/**
 * Returns an amount of a request in units of the rule. @param path the field of the request.
 * @throws ApiError 422 for an amount that is not whole, or less than 0.000001 credits.
 */
export function toAmount(unit: BudgetRecord['unit'], amount: number, path: string): number {
  if (unit !== 'credits') {
    if (!Number.isInteger(amount)) throw invalid(path, `expected a whole number of ${unit}`);
    return amount;
  }
  const units = fromCredits(amount);
  if (units === 0) throw invalid(path, 'expected at least 0.000001 credits');
  return units;
}
