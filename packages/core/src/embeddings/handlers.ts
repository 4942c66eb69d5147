import { type Call, payerOf } from '../call.ts';
import { estimateInput, estimateTokens, type PromptSize } from '../credits/estimates.ts';
import { charge } from '../credits/pricing.ts';
import { type ReservationServices, reserve } from '../credits/reservations.ts';
import type { Intake } from '../engine/intake.ts';
import { ApiError } from '../errors.ts';
import type { CatalogueEntry } from '../models/catalogue.ts';
import { embeddingModel, embeddingSize, embedTexts, meterEmbedding } from '../models/embedding.ts';
import { providerFailure } from '../models/failures.ts';
import type { PipelineServices } from '../pipeline.ts';
import type { CatalogueOf } from '../provider-keys/own-models.ts';
import { defineRoute, type Route } from '../route.ts';
import type { Switches } from '../settings/admin.ts';
import { createEmbeddings, type EmbeddingsBody, MOST_NUMBERS, MOST_TOKENS } from './contract.ts';

export interface EmbeddingsServices extends PipelineServices, ReservationServices {
  readonly catalogueOf: CatalogueOf;
  readonly switches: Switches;
  readonly intake: Intake;
}

/** `POST /api/v1/embeddings`: reserve, ask the model, settle. */
export function createEmbeddingsHandler(services: EmbeddingsServices): Route {
  return defineRoute(createEmbeddings, services, async ({ body }, call) => {
    services.intake.admit();
    const { enforceCredits } = await services.switches.current();
    const entry = embeddingModel(await services.catalogueOf(call.caller.userId), body.model, enforceCredits);
    const texts = typeof body.input === 'string' ? [body.input] : body.input;
    const size = embeddingSize(texts);
    checkLimits(entry, body, texts.length, size);
    const reserved = await reserve(services, {
      key: call.id,
      payer: payerOf(call.caller),
      amount: entry.prices === undefined ? 0 : charge(entry.prices, { input: estimateInput(size) }),
      operation: createEmbeddings.id,
      model: entry.info.id,
      requestId: call.requestId,
      metered: enforceCredits,
    });
    try {
      const result = await embedTexts(entry, texts, body.dimensions, { signal: call.signal });
      const { amount, usage } = meterEmbedding(entry, reserved.amount, size, result, texts.length);
      await reserved.settle(amount, usage);
      const tokens = usage.input ?? 0;
      return {
        object: 'list' as const,
        data: result.embeddings.map((vector, index) => ({
          object: 'embedding' as const,
          index,
          embedding: body.encoding_format === 'base64' ? toBase64(vector) : [...vector],
        })),
        model: entry.info.id,
        usage: { prompt_tokens: tokens, total_tokens: tokens },
      };
    } catch (error) {
      await reserved.release();
      throw failureOf(call, error);
    }
  });
}

/** @throws ApiError 422 `limit_exceeded` */
function checkLimits(
  { info }: CatalogueEntry,
  body: EmbeddingsBody,
  inputs: number,
  { characters }: PromptSize,
): void {
  const tokens = estimateTokens(characters);
  if (tokens > MOST_TOKENS) {
    throw new ApiError(422, `input: expected at most ${MOST_TOKENS} tokens, got about ${tokens}`, {
      code: 'limit_exceeded',
    });
  }
  const dimensions = body.dimensions ?? info.dimensions ?? 1;
  if (inputs * dimensions > MOST_NUMBERS) {
    throw new ApiError(
      422,
      `input: expected at most ${MOST_NUMBERS} numbers in the answer, got ${inputs} texts of ${dimensions} dimensions each`,
      { code: 'limit_exceeded' },
    );
  }
}

function failureOf(call: Call, error: unknown): ApiError {
  if (call.signal.aborted) return new ApiError(400, 'The client left before the answer began');
  return error instanceof ApiError ? error : providerFailure(error, 'public');
}

/** 32-bit floats, lowest byte first, whatever the machine's own order is. */
function toBase64(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  vector.forEach((value, index) => {
    bytes.writeFloatLE(value, index * 4);
  });
  return bytes.toString('base64');
}
