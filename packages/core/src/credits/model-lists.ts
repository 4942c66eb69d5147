import type { ModelList } from '../contract/call.ts';
import { ApiError } from '../shared/errors.ts';

/** @throws ApiError 422 `model_not_allowed` for a model that a list leaves out. */
export function requireInLists(lists: readonly ModelList[] | undefined, model: string): void {
  const list = lists && findRefusing(lists, model);
  if (list === undefined) return;
  throw new ApiError(422, `model: '${model}' is not in the list of models of ${NAMES[list.source]}`, {
    code: 'model_not_allowed',
    applicationCode: 'MODEL_NOT_ALLOWED',
  });
}

const NAMES: Readonly<Record<ModelList['source'], string>> = {
  key: 'this API key',
  organization: 'the organization that pays',
  plan: 'the plan',
  identity: 'this sign-in',
};

function findRefusing(lists: readonly ModelList[], model: string): ModelList | undefined {
  return lists.find(({ models }) => !models.includes(model));
}

/** Whether every list contains a model. */
export function isInLists(lists: readonly ModelList[], model: string): boolean {
  return findRefusing(lists, model) === undefined;
}
