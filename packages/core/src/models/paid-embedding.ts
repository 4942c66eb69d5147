import { estimateInput } from '../credits/estimates.ts';
import { charge } from '../credits/pricing.ts';
import type { ReservationServices } from '../credits/reservations.ts';
import { type EmbedResult, ProviderError } from '../ports/models.ts';
import type { CircuitBreaker } from './breaker.ts';
import { embeddingSize, embedTexts, meterEmbedding } from './embedding.ts';
import { type PaidCallRequest, paidCall } from './paid-call.ts';

/** Texts of one request to a provider in a call that may have more: Gemini takes at most 100. */
const BATCH = 64;

export interface PaidEmbeddingServices extends ReservationServices {
  readonly breaker: CircuitBreaker;
}

export interface PaidEmbeddingRequest extends Omit<PaidCallRequest, 'amount' | 'tokens'> {
  readonly texts: readonly string[];
  readonly dimensions?: number | undefined;
  /** Identifies the caller to the circuit breaker. */
  readonly callerId: string;
  /** Sends the texts in several requests to the provider. Default: in one. */
  readonly isBatched?: boolean;
}

export interface PaidEmbedding extends EmbedResult {
  /** The charged tokens. */
  readonly chargedTokens: number;
}

/**
 * Embeds texts with one hold and one settlement. Cancels the provider call without a charge when the caller leaves.
 * @param use uses the result before it is charged.
 * @throws ApiError 422 `insufficient_credits`, `spend_cap_exceeded`; ProviderError
 */
export async function embedPaid(
  services: PaidEmbeddingServices,
  input: PaidEmbeddingRequest,
  signal: AbortSignal,
  use?: (result: EmbedResult) => Promise<void>,
): Promise<PaidEmbedding> {
  const { texts, dimensions, callerId, isBatched = false, ...request } = input;
  const { entry } = input;
  const size = embeddingSize(texts);
  const tokens = estimateInput(size);
  const amount = entry.prices === undefined ? 0 : charge(entry.prices, { input: tokens });
  const cost = (result: EmbedResult) => meterEmbedding(entry, amount, size, result, texts.length);
  const result = await paidCall(
    services,
    { ...request, amount, tokens },
    {
      signal,
      whenLeft: 'stop',
      async ask(own) {
        const options = { signal: own, breaker: services.breaker, callerId };
        const ask = (batch: readonly string[]) => embedTexts(entry, batch, dimensions, options);
        const answer = isBatched ? await embedInBatches(texts, ask) : await ask(texts);
        await use?.(answer);
        return answer;
      },
      cost,
    },
  );
  return { ...result, chargedTokens: cost(result).usage.input ?? 0 };
}

async function embedInBatches(
  texts: readonly string[],
  ask: (batch: readonly string[]) => Promise<EmbedResult>,
): Promise<EmbedResult> {
  const results: EmbedResult[] = [];
  for (let start = 0; start < texts.length; start += BATCH) {
    results.push(await ask(texts.slice(start, start + BATCH)));
  }
  const embeddings = results.flatMap((result) => result.embeddings);
  if (embeddings.some((vector) => vector.length !== embeddings[0]?.length)) {
    throw new ProviderError('malformed_answer', 'answered vectors of other lengths');
  }
  // One count that cannot be right makes the sum unusable: the estimate is charged.
  const isSane = results.every(({ tokens }) => Number.isSafeInteger(tokens) && tokens >= 0);
  return { embeddings, tokens: isSane ? results.reduce((sum, { tokens }) => sum + tokens, 0) : Number.NaN };
}
