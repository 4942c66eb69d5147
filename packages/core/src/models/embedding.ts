import { estimateTokens, type PromptSize } from '../credits/estimates.ts';
import { type MeteredCall, meterCall } from '../credits/usage.ts';
import { type EmbedResult, ProviderError } from '../ports/models.ts';
import type { CallOptions } from '../ports/options.ts';
import { countCharacters } from '../shared/characters.ts';
import { ApiError } from '../shared/errors.ts';
import { type CircuitBreaker, getCircuit } from './breaker.ts';
import type { CatalogueEntry, ModelCatalogue } from './catalogue.ts';
import { FREE } from './meter.ts';
import { refuseRetired } from './retired.ts';

/** Maximum number of models in an error message. */
const MAX_NAMED = 10;

/**
 * @throws ApiError 422 `model_disabled`; `model_unavailable` for a model that is unknown, retired or not an embedding
 * model, or has no price while credits are enforced.
 */
export function embeddingModel(catalogue: ModelCatalogue, id: string, metered: boolean): CatalogueEntry {
  const entry = catalogue.find(id);
  if (entry?.info.type !== 'embedding') {
    refuseRetired(catalogue, id);
    throw catalogue.isDisabled(id)
      ? new ApiError(422, `model: '${id}' is disabled`, { code: 'model_disabled' })
      : new ApiError(422, `model: there is no embedding model '${id}'; ${listPossible(catalogue)}`, {
          code: 'model_unavailable',
        });
  }
  if (metered && entry.prices === undefined) {
    throw new ApiError(422, `model: '${id}' has no price, so it cannot be used while credits are metered`, {
      code: 'model_unavailable',
    });
  }
  return entry;
}

function listPossible(catalogue: ModelCatalogue): string {
  const ids = catalogue.list().flatMap(({ info }) => (info.type === 'embedding' ? [info.id] : []));
  if (ids.length === 0) return 'no provider with a key offers one';
  const left = ids.length - MAX_NAMED;
  return `possible: ${ids.slice(0, MAX_NAMED).join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
}

/** The input of an embedding call. */
export function embeddingSize(texts: readonly string[]): PromptSize {
  return { characters: texts.reduce((sum, text) => sum + countCharacters(text), 0), images: 0 };
}

/** The tokens of all texts, estimated from their length. */
export function estimateEmbeddingTokens(texts: readonly string[]): number {
  return estimateTokens(embeddingSize(texts).characters);
}

export interface EmbedOptions extends CallOptions {
  readonly breaker: CircuitBreaker;
  /** The user id of the caller, for the circuit breaker. */
  readonly callerId: string;
}

/**
 * Returns one vector per text, in order, all of the same length. @throws ProviderError also for an invalid provider
 * response and for an open circuit.
 */
export async function embedTexts(
  entry: CatalogueEntry,
  texts: readonly string[],
  dimensions: number | undefined,
  { breaker, callerId, signal }: EmbedOptions,
): Promise<EmbedResult> {
  const { provider, providerModel, info } = entry;
  const request = { model: providerModel, inputs: texts, ...(dimensions !== undefined && { dimensions }) };
  const options = signal === undefined ? {} : { signal };
  const result = await breaker.call(getCircuit(entry, callerId), signal, async () => {
    if (provider.embed === undefined) {
      throw new ProviderError('not_configured', `provider ${provider.id} has no embeddings`);
    }
    return provider.embed(request, options);
  });
  const length = dimensions ?? result.embeddings[0]?.length;
  if (result.embeddings.length !== texts.length || length === 0) {
    throw new ProviderError('malformed_answer', `${info.id} answered without a vector for each text`);
  }
  if (!result.embeddings.every((vector) => vector.length === length && vector.every(Number.isFinite))) {
    throw new ProviderError(
      'malformed_answer',
      `${info.id} answered vectors of other lengths, or not of numbers`,
    );
  }
  return result;
}

/** Computes the charge of an embedding call: the reported usage if it is sane, else the held estimate. */
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
    // The context window applies to each text separately.
    contextWindow: entry.info.contextWindow * texts,
    maxTokens: 0,
  });
}
