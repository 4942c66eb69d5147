import type { CatalogueEntry } from '../models/catalogue.ts';
import type { Usage } from '../ports/ledger.ts';
import type { ImageRequest } from '../ports/media.ts';

/** A picture of a model that counts tokens takes at most so many, when its listing does not say. */
const TOKENS_PER_IMAGE = 8192;
const TOKENS_PER_PICTURE = 1000;

/** What so many pictures take at most: of models that are paid by their tokens, so many of those, too. */
export function mostOf({ prices, info }: CatalogueEntry, request: ImageRequest, images: number): Usage {
  if (prices === undefined || prices.input + prices.output === 0) return { images };
  const { prompt, source, references = [] } = request;
  return {
    images,
    input: Math.ceil(prompt.length / 2) + (references.length + (source ? 1 : 0)) * TOKENS_PER_PICTURE,
    output: images * (info.maxOutputTokens || TOKENS_PER_IMAGE),
  };
}
