import { countCharacters, type PromptSize } from '../credits/estimates.ts';
import { type MeteredCall, meterCall } from '../credits/usage.ts';
import { ApiError } from '../errors.ts';
import { type EmbedResult, ProviderError } from '../ports/models.ts';
import type { CallOptions } from '../ports/options.ts';
import type { CatalogueEntry, ModelCatalogue } from './catalogue.ts';
import { FREE } from './meter.ts';

/** @throws ApiError 422 `model_disabled`, or `model_unavailable` for a model that is unknown, no embedding model, or has no price while credits are metered. */
export function embeddingModel(catalogue: ModelCatalogue, id: string, metered: boolean): CatalogueEntry {
  const entry = catalogue.find(id);
  if (entry?.info.type !== 'embedding') {
    throw catalogue.isDisabled(id)
      ? new ApiError(422, `model: '${id}' is disabled`, { code: 'model_disabled' })
      : new ApiError(422, `model: there is no embedding model '${id}'`, { code: 'model_unavailable' });
  }
  if (metered && entry.prices === undefined) {
    throw new ApiError(422, `model: '${id}' has no price, so it cannot be used while credits are metered`, {
      code: 'model_unavailable',
    });
  }
  return entry;
}

/** What a model is given to embed. */
export function embeddingSize(texts: readonly string[]): PromptSize {
  return { characters: texts.reduce((sum, text) => sum + countCharacters(text), 0), images: 0 };
}

/**
 * One vector per text, in order, all of one length.
 * @throws ProviderError, also when the provider answered something else.
 */
export async function embedTexts(
  { provider, providerModel, info }: CatalogueEntry,
  texts: readonly string[],
  dimensions: number | undefined,
  options: CallOptions,
): Promise<EmbedResult> {
  if (provider.embed === undefined) {
    throw new ProviderError('not_configured', `the provider ${provider.id} does not embed`);
  }
  const wish = { model: providerModel, inputs: texts, ...(dimensions !== undefined && { dimensions }) };
  const result = await provider.embed(wish, options);
  const length = dimensions ?? result.embeddings[0]?.length;
  if (result.embeddings.length !== texts.length || length === 0) {
    throw new ProviderError('failed', `${info.id} answered without a vector for each text`);
  }
  if (!result.embeddings.every((vector) => vector.length === length && vector.every(Number.isFinite))) {
    throw new ProviderError('failed', `${info.id} answered vectors of other lengths, or not of numbers`);
  }
  return result;
}

/** What an embedding call has cost: what its provider counted if that is sane, else the estimate it was held for. */
export function meterEmbedding(
  entry: CatalogueEntry,
  reserved: number,
  size: PromptSize,
  { tokens }: EmbedResult,
  texts: number,
): MeteredCall {
  return meterCall(entry.prices ?? FREE, reserved, {
    prompt: size,
    charactersSent: 0,
    finished: true,
    usage: { input: tokens },
    // The window is for each text by itself.
    contextWindow: entry.info.contextWindow * texts,
    maxTokens: 0,
  });
}
