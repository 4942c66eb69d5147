import { getPlanLists, type ModelLists, type PlanModels } from '../../identity/model-lists.ts';
import type { Store } from '../../ports/store.ts';
import { ORGANIZATIONS } from './records.ts';

export function createModelLists(store: Store, plans: PlanModels): ModelLists {
  const organizations = store.collection(ORGANIZATIONS);
  return {
    ofUser: ({ tier }) => getPlanLists(plans, tier),
    async ofOrganization(id) {
      const organization = await organizations.get(id);
      if (organization === undefined) return [];
      const { models, subscriptionTier } = organization;
      const own = models ? [{ source: 'organization', models } as const] : [];
      return [...own, ...getPlanLists(plans, subscriptionTier)];
    },
  };
}
