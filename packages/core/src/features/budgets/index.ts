import { BUDGETS, type BudgetScope, getSubject } from '../../credits/budget-rules.ts';
import { BUDGET_NOTICES } from '../../events/records.ts';
import type { DeletionHook, DeletionHooks } from '../../operations/deletion.ts';
import type { ExamplesFile } from '../../operations/feature-parts.ts';
import type { PersonalData } from '../../operations/personal-data.ts';
import { budgetAudit } from './audit.ts';
import { type BudgetsServices, budgetRoutes } from './handlers.ts';

const deleteBudgetsOf =
  (scope: BudgetScope): DeletionHook =>
  async ({ store }, id) => {
    const budgets = store.collection(BUDGETS);
    for (const budget of await budgets.find({ subject: getSubject(scope, id) })) {
      await budgets.take(budget.id);
      await store.collection(BUDGET_NOTICES).take(budget.id);
    }
  };

const deletion: DeletionHooks = {
  organization: deleteBudgetsOf('organization'),
  project: deleteBudgetsOf('project'),
};

export const budgets = {
  name: 'budgets',
  auditSources: [budgetAudit],
  examples: (): Promise<ExamplesFile> => import('./examples.json', { with: { type: 'json' } }),
  collections: [BUDGETS],
  deletion,
  personal: ({ store }: Pick<BudgetsServices, 'store'>): PersonalData => ({
    async erased(shape, id) {
      if (shape === BUDGETS) await store.collection(BUDGET_NOTICES).take(id);
    },
  }),
  // Without caps in the ledger, nothing would obey them.
  routes: (services: BudgetsServices) =>
    services.ledger.capUsage === undefined ? [] : budgetRoutes(services),
};
