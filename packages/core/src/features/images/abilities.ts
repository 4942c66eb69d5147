import type { CatalogueEntry } from '../../models/catalogue.ts';
import { ApiError } from '../../shared/errors.ts';
import type { ImageOptions } from './request.ts';
import { fitSize } from './sizing.ts';

/** @throws ApiError 422 for callers: the model does not support the request. */
export function checkAbilities(
  { info }: CatalogueEntry,
  { count, background }: Pick<ImageOptions, 'count' | 'background'>,
  input: { readonly isEdit: boolean; readonly references: number },
): void {
  const supports = info.image?.supports;
  if (supports === undefined) return;
  const refuse = (message: string): never => {
    throw new ApiError(422, message);
  };
  if (count > supports.max_images)
    refuse(`n: ${info.name} generates at most ${supports.max_images} at once.`);
  if (input.isEdit && !supports.edit) refuse(`${info.name} does not edit images.`);
  if (!input.isEdit && supports.requires_input_image && input.references === 0) {
    refuse(`${info.name} requires an input image.`);
  }
  if (input.references > supports.max_reference_images) {
    refuse(`${info.name} accepts at most ${supports.max_reference_images} reference images.`);
  }
  if (background === 'transparent' && !supports.transparent_background) {
    refuse(`${info.name} does not support transparent backgrounds.`);
  }
}

/**
 * Adapts the options to the model. Options that only refine the image are omitted for models without them.
 * @throws ApiError 422 for a size that the model does not support.
 */
export function fitOptions(options: ImageOptions, { info }: CatalogueEntry): ImageOptions {
  return fitSize(withoutUnknown(options, info), info.image);
}

function withoutUnknown(options: ImageOptions, info: CatalogueEntry['info']): ImageOptions {
  const supports = info.image?.supports;
  if (supports === undefined) return options;
  const { seed, quality, ...rest } = options;
  const known: Readonly<Record<string, string>> = { hd: 'high', standard: 'medium' };
  const level = quality === undefined || supports.qualities.includes(quality) ? quality : known[quality];
  return {
    ...rest,
    ...(seed !== undefined && supports.seed && { seed }),
    ...(level !== undefined && supports.qualities.includes(level) && { quality: level }),
  };
}
