import { type EmbedRequest, type EmbedResult, ProviderError } from '@questline/core/ports';
import { record, text } from '../content/fields.ts';

export function embeddingBody(request: EmbedRequest): Record<string, unknown> {
  return {
    model: request.model,
    input: request.inputs,
    encoding_format: 'float',
    ...(request.dimensions !== undefined && { dimensions: request.dimensions }),
  };
}

/** Sorts the vectors into the order of the inputs, and checks that none is missing. */
export function embeddingResult(answer: unknown, inputs: number): EmbedResult {
  const { data, usage, model: modelName } = record(answer);
  const embeddings = new Array<readonly number[] | undefined>(inputs).fill(undefined);
  for (const [place, item] of (Array.isArray(data) ? data : []).entries()) {
    const { index, embedding } = record(item);
    const at = typeof index === 'number' ? index : place;
    if (Array.isArray(embedding) && at >= 0 && at < inputs) embeddings[at] = embedding as number[];
  }
  if (!embeddings.every((embedding) => embedding !== undefined)) {
    throw new ProviderError('failed', 'answered without a vector for each input');
  }
  const { prompt_tokens: prompt, total_tokens: total } = record(usage);
  const model = text(modelName);
  return { embeddings, tokens: Number(prompt ?? total ?? 0), ...(model !== undefined && { model }) };
}
