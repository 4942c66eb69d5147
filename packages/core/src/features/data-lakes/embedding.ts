import { type Payer, withoutModelLists } from '../../contract/call.ts';
import type { CatalogueEntry, ModelCatalogue } from '../../models/catalogue.ts';
import { embeddingModel } from '../../models/embedding.ts';
import { embedPaid, type PaidEmbeddingServices } from '../../models/paid-embedding.ts';
import type { AdminSettingsReader } from '../../operations/admin-settings.ts';
import { type EmbedResult, ProviderError } from '../../ports/models.ts';
import type { CallOptions } from '../../ports/options.ts';
import { hasDirection } from '../../ports/vectors.ts';
import type { LakeRecord } from './records.ts';

export interface LakeEmbeddingServices extends PaidEmbeddingServices {
  readonly catalogue: ModelCatalogue;
  readonly adminSettings: AdminSettingsReader;
  /** The embedding model of new lakes. Default: the first one in the catalogue. */
  readonly lakeEmbeddingModel: string | undefined;
}

export interface PaidTexts {
  readonly entry: CatalogueEntry;
  readonly texts: readonly string[];
  readonly payer: Payer;
  readonly requestId: string;
  readonly operation: string;
  /** Minted here and persisted first: each key is charged once, for any number of attempts. */
  readonly key: string;
}

/** Returns the current or future embedding model of a lake. @returns undefined when none is configured. */
export function modelOfLake(
  { catalogue, lakeEmbeddingModel }: LakeEmbeddingServices,
  lake: LakeRecord | undefined,
): string | undefined {
  return (
    lake?.embeddingModel ??
    lakeEmbeddingModel ??
    catalogue.list().find(({ info }) => info.type === 'embedding')?.info.id
  );
}

/** @throws ApiError 422 `model_unavailable`, `model_disabled` */
export async function lakeModel(services: LakeEmbeddingServices, id: string): Promise<CatalogueEntry> {
  const { enforceCredits } = await services.adminSettings.current();
  return embeddingModel(services.catalogue, id, enforceCredits);
}

/**
 * Embeds texts of a job and stores their vectors, then charges them once. The job repeats it under the same key after
 * a crash, an interruption, or a failure to store or to charge.
 * @param store called with one vector per text.
 * @throws ApiError 422 `insufficient_credits`, `spend_cap_exceeded`; ProviderError, after which the key is used up.
 */
export async function embedPassages(
  services: LakeEmbeddingServices,
  input: PaidTexts,
  { signal }: Required<CallOptions>,
  store: (vectors: readonly (readonly number[])[]) => Promise<void>,
): Promise<void> {
  await callEmbedding(services, { ...input, isRepeated: true }, signal, async (result) => {
    if (!result.embeddings.every(hasDirection)) {
      throw new ProviderError('invalid_request', `${input.entry.info.id} returned no vector for a text`);
    }
    await store(result.embeddings);
  });
}

/**
 * Embeds a query, and charges at once.
 * @throws ApiError 422 `insufficient_credits`, `spend_cap_exceeded`; ProviderError
 */
export async function embedQuestion(
  services: LakeEmbeddingServices,
  input: PaidTexts,
  { signal = new AbortController().signal }: CallOptions,
): Promise<readonly number[]> {
  const result = await callEmbedding(services, input, signal);
  return result.embeddings[0] ?? [];
}

/** @param use uses the result before it is charged. */
async function callEmbedding(
  services: LakeEmbeddingServices,
  input: PaidTexts & { readonly isRepeated?: boolean },
  signal: AbortSignal,
  use?: (result: EmbedResult) => Promise<void>,
): Promise<EmbedResult> {
  const { enforceCredits: isMetered } = await services.adminSettings.current();
  const { payer } = input;
  const request = {
    ...input,
    // Checked when the model of the data lake was chosen.
    payer: withoutModelLists(payer),
    isMetered,
    callerId: payer.account,
  };
  return embedPaid(services, request, signal, use);
}
