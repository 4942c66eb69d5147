import { type Call, getPayer } from '../../contract/call.ts';
import type { GetCatalogue } from '../../models/allowed-models.ts';
import type { CatalogueEntry } from '../../models/catalogue.ts';
import { embeddingModel, estimateEmbeddingTokens } from '../../models/embedding.ts';
import { callFailure } from '../../models/failures.ts';
import { embedPaid, type PaidEmbeddingServices } from '../../models/paid-embedding.ts';
import type { AdminSettingsReader } from '../../operations/admin-settings.ts';
import type { AdmissionControl } from '../../operations/admission-control.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import { ApiError } from '../../shared/errors.ts';
import { createEmbeddings, type EmbeddingsBody, MAX_NUMBERS, MAX_TOKENS } from './contract.ts';

export interface EmbeddingsServices extends PipelineServices, PaidEmbeddingServices {
  readonly getCatalogue: GetCatalogue;
  readonly adminSettings: AdminSettingsReader;
  readonly admissionControl: AdmissionControl;
}

/** `POST /api/v1/embeddings`: reserves credit, calls the model, settles. */
export function createEmbeddingsHandler(services: EmbeddingsServices): Route {
  return defineRoute(createEmbeddings, services, ({ body }, call) =>
    answerEmbeddings(services, createEmbeddings.id, body, call),
  );
}

/** @param operation the id of the operation, for charges. */
export async function answerEmbeddings(
  services: EmbeddingsServices,
  operation: string,
  body: EmbeddingsBody,
  call: Call,
) {
  services.admissionControl.admit();
  const { enforceCredits } = await services.adminSettings.current();
  const entry = embeddingModel(await services.getCatalogue(call.caller), body.model, enforceCredits);
  const texts = typeof body.input === 'string' ? [body.input] : body.input;
  checkLimits(entry, body, texts);
  const { signal, requestId, caller } = call;
  const result = await embedPaid(
    services,
    {
      entry,
      key: call.id,
      payer: getPayer(caller),
      operation,
      requestId,
      isMetered: enforceCredits,
      texts,
      dimensions: body.dimensions,
      callerId: caller.userId,
    },
    signal,
  ).catch((error: unknown) => {
    throw toFailure(call, error);
  });
  const tokens = result.chargedTokens;
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
}

/** @throws ApiError 422 `limit_exceeded` */
function checkLimits({ info }: CatalogueEntry, body: EmbeddingsBody, texts: readonly string[]): void {
  const tokens = estimateEmbeddingTokens(texts);
  if (tokens > MAX_TOKENS) {
    throw new ApiError(422, `input: expected at most ${MAX_TOKENS} tokens, got about ${tokens}`, {
      code: 'limit_exceeded',
    });
  }
  const dimensions = body.dimensions ?? info.dimensions ?? 1;
  if (texts.length * dimensions > MAX_NUMBERS) {
    throw new ApiError(
      422,
      `input: expected at most ${MAX_NUMBERS} numbers in the answer, got ${texts.length} texts of ${dimensions} dimensions each`,
      { code: 'limit_exceeded' },
    );
  }
}

function toFailure(call: Call, error: unknown): ApiError {
  if (call.signal.aborted) return new ApiError(400, 'The client disconnected before the answer began');
  return callFailure(error, 'public');
}

/** Encodes 32-bit floats as little-endian, on any machine. */
function toBase64(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  vector.forEach((value, index) => {
    bytes.writeFloatLE(value, index * 4);
  });
  return bytes.toString('base64');
}
