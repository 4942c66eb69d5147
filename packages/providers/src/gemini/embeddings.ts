import { type EmbedRequest, type EmbedResult, ProviderError } from '@questline/core/ports';
import { record } from '../content/fields.ts';

export function embeddingBody(request: EmbedRequest): Record<string, unknown> {
  return {
    requests: request.inputs.map((text) => ({
      model: `models/${request.model}`,
      content: { parts: [{ text }] },
      ...(request.dimensions !== undefined && { outputDimensionality: request.dimensions }),
    })),
  };
}

export function embeddingResult(answer: unknown, inputs: readonly string[]): EmbedResult {
  const { embeddings, usageMetadata } = record(answer);
  const vectors = (Array.isArray(embeddings) ? embeddings : []).map((item) => record(item).values);
  if (vectors.length !== inputs.length || !vectors.every((vector) => Array.isArray(vector))) {
    throw new ProviderError('failed', 'answered without a vector for each input');
  }
  const { promptTokenCount } = record(usageMetadata);
  const tokens = typeof promptTokenCount === 'number' ? promptTokenCount : estimate(inputs);
  return { embeddings: vectors as number[][], tokens };
}

/** Some models of this API report no usage; this is the estimate of reservations. */
function estimate(inputs: readonly string[]): number {
  const characters = inputs.reduce((sum, text) => sum + Array.from(text).length, 0);
  return Math.ceil(characters / 2.5);
}
