import { ApiError } from '../shared/errors.ts';
import type { ModelCatalogue } from './catalogue.ts';

/** A successor may be retired, too. Bounds lists that name each other. */
const MAX_SUCCESSORS = 10;

/** Why a retired model is refused, in words for callers. @returns undefined for a model that is not retired. */
export function describeRetired(
  catalogue: Pick<ModelCatalogue, 'findRetired'>,
  id: string,
): string | undefined {
  const retired = catalogue.findRetired(id);
  if (retired === undefined) return undefined;
  let successor = retired.replacedBy;
  for (let step = 0; step < MAX_SUCCESSORS && successor !== undefined; step += 1) {
    const next = catalogue.findRetired(successor);
    if (next === undefined) break;
    successor = next.replacedBy;
  }
  const advice = successor === undefined ? '' : `; use '${successor}'`;
  return `model '${id}' was retired on ${retired.deprecationDate}${advice}`;
}

/** @throws ApiError 422 `model_unavailable` for a model that is retired. */
export function refuseRetired(catalogue: Pick<ModelCatalogue, 'findRetired'>, id: string): void {
  const message = describeRetired(catalogue, id);
  if (message !== undefined) throw new ApiError(422, message, { code: 'model_unavailable' });
}
