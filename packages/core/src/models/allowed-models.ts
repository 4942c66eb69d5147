import type { ModelList, Payer } from '../contract/call.ts';
import { isInLists, requireInLists } from '../credits/model-lists.ts';
import { invalid } from '../shared/errors.ts';
import type { ModelCatalogue } from './catalogue.ts';

/** A user with the lists that limit its models: a caller, or the payer of work. */
export type ModelUser = Pick<Payer, 'userId' | 'modelLists'>;

/**
 * Returns the models of a user: those of the workspace, where providers with a key of the user are called with that key,
 * and of these the ones that every list of the user contains.
 */
export type GetCatalogue = (user: ModelUser) => ModelCatalogue | Promise<ModelCatalogue>;

/**
 * Limits catalogues to the lists of their users. Users without a list get the catalogue itself.
 * @param own the catalogues of users with keys of their own. Default: all users have the shared one.
 */
export function limitCatalogues(
  shared: ModelCatalogue,
  own?: { getCatalogue(userId: string): ModelCatalogue | Promise<ModelCatalogue> },
): GetCatalogue {
  return ({ userId, modelLists }) => {
    const found = own === undefined ? shared : own.getCatalogue(userId);
    if (modelLists === undefined) return found;
    return found instanceof Promise
      ? found.then((catalogue) => limit(catalogue, modelLists))
      : limit(found, modelLists);
  };
}

function limit(catalogue: ModelCatalogue, lists: readonly ModelList[]): ModelCatalogue {
  const isAllowed = (id: string): boolean => isInLists(lists, id);
  return {
    ...catalogue,
    find(id) {
      const entry = catalogue.find(id);
      if (entry !== undefined) requireInLists(lists, id);
      return entry;
    },
    list: () => catalogue.list().filter(({ info }) => isAllowed(info.id)),
    isAllowed,
  };
}

/** @throws ApiError 422 `model_unavailable` for a model that does not exist. */
export async function requireKnownModels(
  getCatalogue: GetCatalogue,
  user: Pick<ModelUser, 'userId'>,
  models: readonly string[],
): Promise<void> {
  const catalogue = await getCatalogue({ userId: user.userId });
  for (const model of models) {
    if (catalogue.find(model) !== undefined || catalogue.isDisabled(model)) continue;
    throw invalid('models', `there is no model '${model}'`, 'model_unavailable');
  }
}
