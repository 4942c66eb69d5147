import { countCharacters, estimateTokens } from '@questline/core/internal';
import {
  type EmbedRequest,
  type EmbedResult,
  type GenerateOptions,
  ProviderError,
} from '@questline/core/ports';
import { providerError } from './errors.ts';
import type { AiSdkEmbeddingModel } from './models.ts';

const parallelCalls = 4;

export interface EmbedInput extends GenerateOptions {
  /** For error messages. */
  readonly provider: string;
}

/** Embeds texts in as many calls as the model needs. Rejects with a `ProviderError`, or with the signal's reason. */
export async function embed(
  model: AiSdkEmbeddingModel,
  request: EmbedRequest,
  { provider, apiKey, signal }: EmbedInput,
): Promise<EmbedResult> {
  signal?.throwIfAborted();
  const work = new AbortController();
  const aborted = () => work.abort(signal?.reason);
  signal?.addEventListener('abort', aborted);
  try {
    const most = (await model.maxEmbeddingsPerCall) ?? Number.POSITIVE_INFINITY;
    const batches = splitIntoBatches(request.inputs, Math.max(1, most));
    const atOnce = (await model.supportsParallelCalls) ? parallelCalls : 1;
    const results: EmbedResult[] = [];
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < batches.length) {
        const place = next++;
        results[place] = await embedBatch(model, batches[place] ?? [], request.dimensions, work.signal);
      }
    };
    await Promise.all(Array.from({ length: Math.min(atOnce, batches.length) }, worker));
    return {
      embeddings: results.flatMap((result) => result.embeddings),
      tokens: results.reduce((sum, result) => sum + result.tokens, 0),
    };
  } catch (error) {
    // Abort the batches still in flight: they would cost money for no result.
    work.abort(error);
    throw signal?.aborted
      ? signal.reason
      : providerError(error, provider, apiKey === undefined ? [] : [apiKey]);
  } finally {
    signal?.removeEventListener('abort', aborted);
  }
}

async function embedBatch(
  model: AiSdkEmbeddingModel,
  values: string[],
  dimensions: number | undefined,
  abortSignal: AbortSignal,
): Promise<EmbedResult> {
  abortSignal.throwIfAborted();
  const result =
    model.specificationVersion === 'v4'
      ? await model.doEmbed({ values, abortSignal, ...(dimensions !== undefined && { dimensions }) })
      : await model.doEmbed({ values, abortSignal, ...olderDimensions(model.provider, dimensions) });
  if (result.embeddings.length !== values.length) {
    throw new ProviderError(
      'failed',
      `${values.length} texts were sent, ${result.embeddings.length} embeddings were returned`,
    );
  }
  if (dimensions !== undefined && result.embeddings.some((embedding) => embedding.length !== dimensions)) {
    throw new ProviderError('invalid_request', `${model.modelId} does not support ${dimensions} dimensions`);
  }
  const estimated = () => values.reduce((sum, value) => sum + estimateTokens(countCharacters(value)), 0);
  const tokens = result.usage?.tokens;
  return {
    embeddings: result.embeddings,
    tokens: Number.isSafeInteger(tokens) ? (tokens ?? 0) : estimated(),
  };
}

/** Before version 4, dimensions are a vendor option, which most vendors call `dimensions`. */
function olderDimensions(vendor: string, dimensions: number | undefined) {
  if (dimensions === undefined) return {};
  const name = vendor.split('.')[0] ?? vendor;
  return {
    providerOptions: {
      openai: { dimensions },
      google: { outputDimensionality: dimensions },
      cohere: { outputDimension: dimensions },
      [name]: { dimensions, outputDimensionality: dimensions, outputDimension: dimensions },
    },
  };
}

function splitIntoBatches(inputs: readonly string[], size: number): string[][] {
  const batches: string[][] = [];
  for (let start = 0; start < inputs.length; start += size) batches.push(inputs.slice(start, start + size));
  return batches;
}
