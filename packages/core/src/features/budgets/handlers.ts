import type { Caller } from '../../contract/call.ts';
import { BUDGETS, type BudgetRecord } from '../../credits/budget-rules.ts';
import type { Budgets } from '../../credits/budgets.ts';
import { BUDGET_NOTICES } from '../../events/records.ts';
import { type GetCatalogue, requireKnownModels } from '../../models/allowed-models.ts';
import { actingFor } from '../../operations/audit.ts';
import { findNumberedPage } from '../../operations/find-page.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { CreditLedger } from '../../ports/ledger.ts';
import type { Filter } from '../../ports/store.ts';
import { forbidden, invalid, notFound } from '../../shared/errors.ts';
import {
  createBudget,
  deleteBudget,
  getBudget,
  listBudgets,
  updateBudget,
  type WireBudget,
} from './contract.ts';
import { checkCount, duplicate, getDefaultName, getSignature, getWindow } from './rules.ts';
import { findScope, isAdministrator, ownsScope, type ScopeServices } from './scopes.ts';
import { toAmount, toWireBudget } from './wire.ts';

export interface BudgetsServices extends PipelineServices, ScopeServices {
  readonly ledger: CreditLedger;
  readonly budgets: Budgets;
  readonly getCatalogue: GetCatalogue;
}

export function budgetRoutes(services: BudgetsServices): Route[] {
  return [
    createListBudgetsHandler(services),
    createCreateBudgetHandler(services),
    createGetBudgetHandler(services),
    createUpdateBudgetHandler(services),
    createDeleteBudgetHandler(services),
  ];
}

/** `GET /api/budgets` */
function createListBudgetsHandler(services: BudgetsServices): Route {
  const records = services.store.collection(BUDGETS);
  return defineRoute(listBudgets, services, async ({ query }, { caller }) => {
    const filter = await getFilter(services, caller, query);
    const order = { field: 'createdAt', direction: query.order ?? 'desc' } as const;
    const { rows, pagination } = await findNumberedPage(records, filter, query, order);
    return { budgets: await toWire(services, caller, rows), pagination };
  });
}

/** `POST /api/budgets` */
function createCreateBudgetHandler(services: BudgetsServices): Route {
  const { clock, ids, budgets } = services;
  return defineRoute(createBudget, services, async ({ body }, call) => {
    const { caller } = call;
    const { scope, scopeId, timeZone, action, ownKeys, limit } = body;
    const { unit } = limit;
    const window = getWindow(unit, body.window);
    const amount = toAmount(unit, limit.amount, 'limit.amount');
    const models = body.models ?? null;
    if (models !== null) await requireKnownModels(services.getCatalogue, caller, models);
    const managed = await findScope(services, caller, scope, scopeId);
    const rule = { ...managed, models, window, timeZone, unit, action };
    const now = clock.now();
    const budget: BudgetRecord = {
      id: ids.next(),
      ...rule,
      name: body.name ?? getDefaultName({ scope, unit, amount, window }),
      amount,
      ownKeys,
      signature: getSignature(rule),
      createdAt: now,
      updatedAt: now,
    };
    // Counting and inserting share one transaction, so parallel requests cannot exceed the maximum.
    await actingFor(services, call).store.transaction(async (inner) => {
      const records = inner.collection(BUDGETS);
      const others = await records.find({ subject: rule.subject });
      // Counted apart: the budgets of an owner take no place of those of administrators.
      checkCount(others.filter(({ managedBy }) => managedBy === rule.managedBy).length);
      if (!(await records.insert(budget))) throw duplicate();
    });
    budgets.invalidate();
    return toWireOne(services, caller, budget);
  });
}

/** `GET /api/budgets/{id}` */
function createGetBudgetHandler(services: BudgetsServices): Route {
  return defineRoute(getBudget, services, async ({ params }, { caller }) =>
    toWireOne(services, caller, await findBudget(services, caller, params.id)),
  );
}

/** `PATCH /api/budgets/{id}` */
function createUpdateBudgetHandler(services: BudgetsServices): Route {
  const { clock, budgets } = services;
  return defineRoute(updateBudget, services, async ({ params, body }, call) => {
    const { caller } = call;
    const before = await findBudget(services, caller, params.id);
    requireEditable(before, caller);
    const { name, action = before.action, ownKeys } = body;
    const amount = body.amount === undefined ? before.amount : toAmount(before.unit, body.amount, 'amount');
    const signature = getSignature({ ...before, action });
    const updated = await actingFor(services, call).store.transaction(async (inner) => {
      const records = inner.collection(BUDGETS);
      const [other] = await records.find({ signature }, { limit: 1 });
      if (other !== undefined && other.id !== before.id) throw duplicate();
      return records.update(before.id, {
        ...(name !== undefined && { name }),
        ...(ownKeys !== undefined && { ownKeys }),
        amount,
        action,
        signature,
        updatedAt: clock.now(),
      });
    });
    if (updated === undefined) throw notFound('Budget');
    budgets.invalidate();
    return toWireOne(services, caller, updated);
  });
}

/** `DELETE /api/budgets/{id}` */
function createDeleteBudgetHandler(services: BudgetsServices): Route {
  return defineRoute(deleteBudget, services, async ({ params }, call) => {
    const { caller } = call;
    const budget = await findBudget(services, caller, params.id);
    requireEditable(budget, caller);
    await actingFor(services, call).store.collection(BUDGETS).take(budget.id);
    await services.store.collection(BUDGET_NOTICES).take(budget.id);
    services.budgets.invalidate();
  });
}

async function getFilter(
  services: BudgetsServices,
  caller: Caller,
  query: {
    readonly scope?: BudgetRecord['scope'] | undefined;
    readonly scopeId?: string | undefined;
    readonly all?: string | undefined;
  },
): Promise<Filter<BudgetRecord>> {
  const { scope, scopeId, all } = query;
  if (all === 'true') {
    if (!isAdministrator(caller)) throw forbidden('Administrators only');
    return {};
  }
  if (scope !== undefined) {
    const { subject } = await findScope(services, caller, scope, scopeId);
    return { subject };
  }
  if (scopeId !== undefined) throw invalid('scope', 'expected the scope of the id');
  return { userId: caller.userId };
}

/** @throws ApiError 404 for a budget on others. */
async function findBudget(services: BudgetsServices, caller: Caller, id: string): Promise<BudgetRecord> {
  const budget = await services.store.collection(BUDGETS).get(id);
  if (budget === undefined) throw notFound('Budget');
  if (isAdministrator(caller) || (await ownsScope(services, caller, budget))) return budget;
  throw notFound('Budget');
}

function isEditable({ managedBy }: BudgetRecord, caller: Caller): boolean {
  return managedBy === 'owner' || isAdministrator(caller);
}

/** @throws ApiError 403 for a budget of administrators. */
function requireEditable(budget: BudgetRecord, caller: Caller): void {
  if (!isEditable(budget, caller)) throw forbidden('Administrators manage this budget');
}

async function toWire(
  { ledger, budgets }: BudgetsServices,
  caller: Caller,
  rules: readonly BudgetRecord[],
): Promise<WireBudget[]> {
  const current = rules.map((rule) => budgets.current(rule));
  const usages = (await ledger.capUsage?.(current.map(({ capId }) => capId))) ?? [];
  return current.map((budget, at) =>
    toWireBudget(budget, usages[at] ?? { spent: 0, reserved: 0 }, isEditable(budget.rule, caller)),
  );
}

async function toWireOne(services: BudgetsServices, caller: Caller, rule: BudgetRecord): Promise<WireBudget> {
  const [budget] = await toWire(services, caller, [rule]);
  if (budget === undefined) throw notFound('Budget');
  return budget;
}
