import * as z from 'zod';
import { idParams } from '../../contract/identifiers.ts';
import { modelList } from '../../contract/lists.ts';
import { defineOperation } from '../../contract/operation.ts';
import { numberedQuery, pagination } from '../../contract/pages.ts';
import { text } from '../../contract/text.ts';
import { BUDGET_ACTIONS, BUDGET_SCOPES, BUDGET_UNITS } from '../../credits/budget-rules.ts';
import { BUDGET_WINDOWS, isTimeZone } from '../../credits/budget-windows.ts';

/** In every unit. A credit is a million micro-credits, and sums of them stay exact. */
const MAX_AMOUNT = 1_000_000_000;

const limit = z
  .object({
    unit: z
      .enum(BUDGET_UNITS)
      .describe(
        'What is limited: credits, tokens of all kinds, requests to models, or requests at the same time.',
      ),
    amount: z
      .number()
      .gt(0)
      .max(MAX_AMOUNT)
      .describe('The maximum: more than 0, at most 1,000,000,000. Whole, except credits: up to 6 decimals.'),
  })
  .describe('The maximum in one window.');

const name = text({ min: 1, max: 100 });
const action = z.enum(BUDGET_ACTIONS);
const ownKeys = z.enum(['count', 'ignore']);

const budget = z.object({
  id: z.string().describe('The id of the budget.'),
  name: z.string().describe('The name, which a refusal contains.'),
  scope: z.enum(BUDGET_SCOPES).describe('Whose calls count.'),
  scopeId: z
    .string()
    .nullable()
    .describe('The id of the key, user, organization or project; null: everyone.'),
  models: z.array(z.string()).nullable().describe('The models whose calls count; null: all.'),
  window: z.enum(BUDGET_WINDOWS).describe('The window in which the sum is formed.'),
  timeZone: z.string().describe('The time zone of the window.'),
  limit,
  action: action.describe(
    '`refuse`: calls above the limit answer 422. `notify`: they are made. Both send `budget.threshold` events.',
  ),
  ownKeys: ownKeys.describe("Whether calls with a user's own provider key count. They cost no credits."),
  managedBy: z
    .enum(['owner', 'administrator'])
    .describe('Who changes it: the owner of the scope, or administrators only.'),
  editable: z.boolean().describe('Whether the caller may change it.'),
  spent: z.number().describe('The sum of ended calls in the current window, in the unit of the limit.'),
  reserved: z.number().describe('What running calls have reserved, in the unit of the limit.'),
  left: z.number().describe('The limit without `spent` and `reserved`; 0 or more.'),
  windowStart: z.iso.datetime().nullable().describe('The start of the current window; null: it has none.'),
  windowEnd: z.iso.datetime().nullable().describe('The end of the current window; null: it never ends.'),
  createdAt: z.iso.datetime().describe('The time of creation.'),
});

export type WireBudget = z.input<typeof budget>;

const common = {
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  owner: 'caller',
  family: 'application',
  tag: 'Budgets',
  subject: 'Budget',
} as const;

const NOT_MANAGED = {
  status: 403,
  description: 'Administrators manage the budget, and the caller is not an administrator.',
} as const;

export const listBudgets = defineOperation({
  ...common,
  id: 'listBudgets',
  method: 'GET',
  path: '/api/budgets',
  summary: 'List budgets with what is spent and reserved, newest first',
  description:
    'Without a scope: the budgets on the caller and on the keys and projects of the caller. `scope` and `scopeId` select those of one scope; `all=true` lists every budget, for administrators.',
  input: {
    query: numberedQuery().extend({
      scope: z.enum(BUDGET_SCOPES).optional().describe('Only budgets of this scope.'),
      scopeId: z
        .string()
        .optional()
        .describe('The id of the key, user, organization or project. Default for `user`: the caller.'),
      all: z.enum(['true', 'false']).optional().describe('`true`: every budget, for administrators.'),
    }),
  },
  output: {
    200: {
      description: 'A page.',
      schema: z.object({ budgets: z.array(budget).describe('The budgets of this page.'), pagination }),
    },
  },
  refusals: [
    { status: 403, description: 'Only administrators list every budget, or those on everyone.' },
    { status: 404, description: 'The scope does not exist, or the caller does not manage it.' },
  ],
});

export const createBudget = defineOperation({
  ...common,
  audit: ['budget.created'],
  id: 'createBudget',
  method: 'POST',
  path: '/api/budgets',
  summary: 'Create a budget',
  description:
    'All budgets that match a call apply at once, and the tightest decides. A user manages budgets on itself, its keys and its projects, administrators of an organization those on the organization, and administrators all; theirs cannot be changed by others.',
  input: {
    body: z.object({
      name: name
        .optional()
        .describe('The name, which a refusal contains. Default: made of scope, limit and window.'),
      scope: z.enum(BUDGET_SCOPES).describe('Whose calls count.'),
      scopeId: z
        .string()
        .optional()
        .describe(
          'The id of the key, user, organization or project. Default for `user`: the caller. Not allowed for `everyone`.',
        ),
      models: modelList.optional().describe('The models whose calls count. Default: all.'),
      window: z
        .enum(BUDGET_WINDOWS)
        .optional()
        .describe(
          'The window in which the sum is formed. Weeks begin on Monday. Required, except for the unit `concurrent`, which has only `total`.',
        ),
      timeZone: z
        .string()
        .max(100)
        .refine(isTimeZone, 'expected an IANA time zone, e.g. Europe/Berlin')
        .default('UTC')
        .describe('The IANA time zone of the window, e.g. `Europe/Berlin`.'),
      limit,
      action: action
        .default('refuse')
        .describe(
          '`refuse`: calls above the limit answer 422 `budget_exceeded`. `notify`: they are made. Both send `budget.threshold` events at 50, 80 and 100 %.',
        ),
      ownKeys: ownKeys
        .default('count')
        .describe("Whether calls with a user's own provider key count. They cost no credits."),
    }),
  },
  output: { 201: { description: 'The budget.', schema: budget } },
  refusals: [
    { status: 400, description: 'The scope has 20 budgets of its owner, or of administrators.' },
    { status: 403, description: 'Only administrators limit everyone.' },
    { status: 404, description: 'The scope does not exist, or the caller does not manage it.' },
    { status: 409, description: 'A budget for the same calls, unit, window and action exists.' },
  ],
});

export const getBudget = defineOperation({
  ...common,
  id: 'getBudget',
  method: 'GET',
  path: '/api/budgets/{id}',
  summary: 'Get a budget with what is spent and reserved',
  description: 'The caller must manage the scope of the budget, also if administrators manage the budget.',
  input: { params: idParams },
  output: { 200: { description: 'The budget.', schema: budget } },
});

export const updateBudget = defineOperation({
  ...common,
  audit: ['budget.updated'],
  id: 'updateBudget',
  method: 'PATCH',
  path: '/api/budgets/{id}',
  summary: 'Change the name, the amount, the action or `ownKeys` of a budget',
  description:
    'Fields that are not sent stay as they are. What is spent stays spent. For other calls, another unit or another window, create a budget. Takes effect at once in this process, within 2 seconds in others.',
  input: {
    params: idParams,
    body: z.object({
      name: name.optional().describe('The name, which a refusal contains.'),
      amount: limit.shape.amount.optional(),
      action: action.optional().describe('`refuse` or `notify`.'),
      ownKeys: ownKeys.optional().describe("Whether calls with a user's own provider key count."),
    }),
  },
  output: { 200: { description: 'The updated budget.', schema: budget } },
  refusals: [
    NOT_MANAGED,
    { status: 409, description: 'A budget for the same calls, unit, window and action exists.' },
  ],
});

export const deleteBudget = defineOperation({
  ...common,
  audit: ['budget.deleted'],
  id: 'deleteBudget',
  method: 'DELETE',
  path: '/api/budgets/{id}',
  summary: 'Delete a budget',
  description: 'Takes effect at once in this process, within 2 seconds in others.',
  input: { params: idParams },
  output: { 204: { description: 'The budget is deleted.' } },
  refusals: [NOT_MANAGED],
});
