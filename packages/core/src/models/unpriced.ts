import { ApiError } from '../shared/errors.ts';
import type { CatalogueEntry } from './catalogue.ts';

/** The error for a model without a price while credits are enforced. */
export function unpriced(entry: CatalogueEntry): ApiError {
  return new ApiError(
    422,
    `model: '${entry.info.id}' has no price, so it cannot be used while credits are metered`,
    { code: 'model_unavailable' },
  );
}
