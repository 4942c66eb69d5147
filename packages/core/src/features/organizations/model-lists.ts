import type { ModelList } from '../../contract/call.ts';
import { getPlanLists, type ModelLists, type PlanModels } from '../../identity/model-lists.ts';
import type { Store } from '../../ports/store.ts';
import { ORGANIZATIONS, type OrganizationRecord } from './records.ts';

export function createModelLists(store: Store, plans: PlanModels): ModelLists {
  const organizations = store.collection(ORGANIZATIONS);
  const getLists = ({ models, subscriptionTier }: OrganizationRecord): readonly ModelList[] => {
    const own = models ? [{ source: 'organization', models } as const] : [];
    return [...own, ...getPlanLists(plans, subscriptionTier)];
  };
  return {
    ofUser: ({ tier }) => getPlanLists(plans, tier),
    async ofOrganization(id) {
      const organization = await organizations.get(id);
      return organization === undefined ? [] : getLists(organization);
    },
    async ofOrganizations(ids) {
      const found = await organizations.find({ id: { in: ids } });
      return new Map(found.map((organization) => [organization.id, getLists(organization)]));
    },
  };
}
