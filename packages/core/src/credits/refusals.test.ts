import { expect, test } from 'vitest';
import type { BudgetRecord } from './budget-rules.ts';
import type { CallBudget } from './budgets.ts';
import { toRefusal } from './refusals.ts';
import { getSpendCap } from './spend-caps.ts';

const CAP = { outcome: 'cap_exceeded', capId: 'budget:rule:0' } as const;

function getBudget(change: Partial<BudgetRecord>, end?: number): CallBudget {
  const rule: BudgetRecord = {
    ...{ id: 'rule', name: 'Team', scope: 'user', scopeId: 'u', subject: 'user:u', userId: null },
    ...{ models: null, window: 'day', timeZone: 'Europe/Berlin', unit: 'tokens', amount: 100 },
    ...{ action: 'refuse', ownKeys: 'count', managedBy: 'owner', signature: 's', createdAt: 0, updatedAt: 0 },
    ...change,
  };
  const { capId } = CAP;
  const cap = { id: capId, unit: rule.unit, limit: rule.amount, amount: 1 };
  return { rule, capId, range: end === undefined ? undefined : { start: 0, end }, cap };
}

test.each([
  ['user:a', 'You have'],
  ['organization:o', 'The organization has'],
])('the refusal of %s states the credits that are there and those that are needed', (account, who) => {
  const outcome = { outcome: 'insufficient_credits', available: 2_500_000, required: 4_000_000 } as const;
  expect(toRefusal(outcome, [], account)).toMatchObject({
    status: 422,
    code: 'insufficient_credits',
    message: `Insufficient credits. ${who} 2.5 credits, but this request requires approximately 4 credits.`,
  });
});

test('the refusal of a key states its limit and what it has used', () => {
  const outcome = { outcome: 'spend_cap_exceeded', used: 1e6, limit: 3e6, required: 4e6 } as const;
  expect(toRefusal(outcome, [], 'user:a')).toMatchObject({
    status: 422,
    code: 'spend_cap_exceeded',
    message:
      'Spend cap reached. This key may spend 3 credits in its period and has used or reserved 1; ' +
      'this request requires approximately 4 credits.',
  });
});

test.each<[string, CallBudget, object, string]>([
  [
    'its window and its sums',
    getBudget({}, Date.parse('2026-06-30T22:00:00Z')),
    { spent: 60, reserved: 30, limit: 100, required: 20 },
    "Budget 'Team' exceeded. Of 100 tokens, 60 are spent and 30 are reserved: 10 left. " +
      'This request requires approximately 20. The window ends at 2026-07-01T00:00:00+02:00.',
  ],
  [
    'credits, and none left below zero',
    getBudget({ unit: 'credits' }),
    { spent: 120_000_000, reserved: 0, limit: 100_000_000, required: 1_500_000 },
    "Budget 'Team' exceeded. Of 100 credits, 120 are spent and 0 are reserved: 0 left. " +
      'This request requires approximately 1.5.',
  ],
  [
    'the calls that are running',
    getBudget({ unit: 'concurrent' }),
    { spent: 0, reserved: 2, limit: 2, required: 1 },
    "Budget 'Team' exceeded. 2 of 2 calls at the same time are running.",
  ],
  [
    'no sums of other users',
    getBudget({ scope: 'everyone' }),
    { spent: 60, reserved: 30, limit: 100, required: 20 },
    "Budget 'Team' exceeded.",
  ],
])('the refusal of a budget states %s', (_, budget, sums, message) => {
  const outcome = { ...CAP, ...sums } as Parameters<typeof toRefusal>[0];
  const other = { ...getBudget({ name: 'Other' }), capId: 'budget:other:0' };
  const refusal = toRefusal(outcome, [other, budget], 'user:u');
  expect(refusal).toMatchObject({ status: 422, code: 'budget_exceeded', message });
  expect(toRefusal(outcome, [other], 'user:u')).toMatchObject({
    ...{ status: 422, code: 'budget_exceeded', message: 'Budget exceeded.' },
  });
});

test('a spend cap belongs to its key or its user, and to one period', () => {
  const now = Date.parse('2026-06-30T22:00:00Z');
  const payer = { account: 'organization:o', userId: 'a' };
  expect(getSpendCap(payer, now)).toBeUndefined();
  const cap = (period: 'day' | 'month' | 'total', keyId?: string) =>
    getSpendCap({ ...payer, ...(keyId !== undefined && { keyId }), spendCap: { amount: 7, period } }, now);
  expect(cap('day')).toEqual({ id: 'user:a:2026-06-30', limit: 7 });
  expect(cap('month', 'k')).toEqual({ id: 'key:k:2026-06', limit: 7 });
  expect(cap('total', 'k')).toEqual({ id: 'key:k:total', limit: 7 });
});
