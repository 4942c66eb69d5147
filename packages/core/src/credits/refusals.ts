import type { CreditLedger } from '../ports/ledger.ts';
import { ApiError } from '../shared/errors.ts';
import { toCredits } from './amounts.ts';
import { formatInstant } from './budget-windows.ts';
import type { CallBudget } from './budgets.ts';

type Outcome = Awaited<ReturnType<CreditLedger['hold']>>;
type Refusal = Exclude<Outcome, { outcome: 'held' }>;
type CapRefusal = Extract<Outcome, { outcome: 'cap_exceeded' }>;

/** Creates the error of a refused hold. @param budgets those of the hold. @param account the one that pays. */
export function toRefusal(outcome: Refusal, budgets: readonly CallBudget[], account: string): ApiError {
  if (outcome.outcome === 'cap_exceeded') return toBudgetError(outcome, budgets);
  const required = toCredits(outcome.required);
  if (outcome.outcome === 'insufficient_credits') {
    const who = account.startsWith('organization:') ? 'The organization has' : 'You have';
    return new ApiError(
      422,
      `Insufficient credits. ${who} ${toCredits(outcome.available)} credits, but this request requires approximately ${required} credits.`,
      { code: 'insufficient_credits' },
    );
  }
  return new ApiError(
    422,
    `Spend cap reached. This key may spend ${toCredits(outcome.limit)} credits in its period and has used or reserved ${toCredits(outcome.used)}; this request requires approximately ${required} credits.`,
    { code: 'spend_cap_exceeded' },
  );
}

function toBudgetError(refusal: CapRefusal, budgets: readonly CallBudget[]): ApiError {
  const budget = budgets.find(({ capId }) => capId === refusal.capId);
  if (budget === undefined) return new ApiError(422, 'Budget exceeded.', { code: 'budget_exceeded' });
  const { rule, range } = budget;
  const end = range === undefined ? '' : ` The window ends at ${formatInstant(range.end, rule.timeZone)}.`;
  return new ApiError(422, `Budget '${rule.name}' exceeded.${describe(refusal, budget)}${end}`, {
    code: 'budget_exceeded',
  });
}

/** The sums of a budget on everyone are those of other users, too. */
function describe({ spent, reserved, limit, required }: CapRefusal, { rule }: CallBudget): string {
  const { unit, scope } = rule;
  if (scope === 'everyone') return '';
  if (unit === 'concurrent') return ` ${reserved} of ${limit} calls at the same time are running.`;
  const show = (amount: number): number => (unit === 'credits' ? toCredits(amount) : amount);
  const left = show(Math.max(0, limit - spent - reserved));
  return ` Of ${show(limit)} ${unit}, ${show(spent)} are spent and ${show(reserved)} are reserved: ${left} left. This request requires approximately ${show(required)}.`;
}
