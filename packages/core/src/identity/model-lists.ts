import type { ModelList } from '../contract/call.ts';
import type { UserRecord } from './records.ts';

/** The models of each plan. A plan without an entry has all models. */
export type PlanModels = Readonly<Partial<Record<UserRecord['tier'], readonly string[]>>>;

/** Finds the lists that limit the models of a caller. */
export interface ModelLists {
  /** The lists of work that a user pays. */
  ofUser(user: Pick<UserRecord, 'tier'>): readonly ModelList[];
  /** The lists of work that an organization pays. */
  ofOrganization(id: string): Promise<readonly ModelList[]>;
  /** The same of several organizations. @param ids at most 1,000. */
  ofOrganizations(ids: readonly string[]): Promise<ReadonlyMap<string, readonly ModelList[]>>;
}

/** Returns the list of a plan, if it has one. */
export function getPlanLists(plans: PlanModels, tier: UserRecord['tier']): readonly ModelList[] {
  const models = plans[tier];
  return models === undefined ? [] : [{ source: 'plan', models }];
}

/** The field of a caller. Absent without a list, so that nothing is checked. */
export function toModelLists(...lists: readonly (readonly ModelList[])[]): {
  readonly modelLists?: readonly ModelList[];
} {
  const modelLists = lists.flat();
  return modelLists.length === 0 ? {} : { modelLists };
}
