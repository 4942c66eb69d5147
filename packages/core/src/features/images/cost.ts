import type { CatalogueEntry } from '../../models/catalogue.ts';
import type { Usage } from '../../ports/ledger.ts';
import type { ImageRequest } from '../../ports/media.ts';

/** Maximum output tokens of an image, for models billed by tokens whose listing sets no maximum. */
const TOKENS_PER_IMAGE = 8192;
const INPUT_TOKENS_PER_IMAGE = 1000;

/** The maximum usage of a number of images, including tokens for models billed by tokens. */
export function computeMaximum(
  { prices, info }: CatalogueEntry,
  request: ImageRequest,
  images: number,
): Usage {
  if (prices === undefined || prices.input + prices.output === 0) return { images };
  const { prompt, source, references = [] } = request;
  return {
    images,
    input: Math.ceil(prompt.length / 2) + (references.length + (source ? 1 : 0)) * INPUT_TOKENS_PER_IMAGE,
    output: images * (info.maxOutputTokens || TOKENS_PER_IMAGE),
  };
}
