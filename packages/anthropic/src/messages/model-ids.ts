import type { ModelCatalogue } from '@questline/core/internal';

/** The day of a release, and the mark of Claude Code for a large context window. */
const SUFFIX = /(?:-(?:20\d{6}|latest))?(?:\[1m\])?$/;

/**
 * Returns the id of a model in the catalogue for a name of the vendor, such as `claude-haiku-4-5-20251001`: the catalogue lists
 * each model once. Other names are returned unchanged.
 */
export function toCatalogueId(catalogue: ModelCatalogue, name: string): string {
  if (!name.startsWith('claude-') || catalogue.find(name) !== undefined) return name;
  const short = name.replace(SUFFIX, '');
  return catalogue.find(short) === undefined ? name : short;
}
