import type { Payer } from '../call.ts';
import { estimateInput } from '../credits/estimates.ts';
import { charge } from '../credits/pricing.ts';
import {
  chargeDetails,
  holdCredit,
  keepHolding,
  type ReservationServices,
  reserve,
} from '../credits/reservations.ts';
import type { CatalogueEntry, ModelCatalogue } from '../models/catalogue.ts';
import { embeddingModel, embeddingSize, embedTexts, meterEmbedding } from '../models/embedding.ts';
import { ProviderError } from '../ports/models.ts';
import type { CallOptions } from '../ports/options.ts';
import { hasDirection } from '../ports/vectors.ts';
import type { Switches } from '../settings/admin.ts';
import type { LakeRecord } from './records.ts';

export interface LakeEmbeddingServices extends ReservationServices {
  readonly catalogue: ModelCatalogue;
  readonly switches: Switches;
  /** The embedding model of lakes that have none yet. Default: the first there is. */
  readonly lakeEmbeddingModel: string | undefined;
}

export interface PaidTexts {
  readonly entry: CatalogueEntry;
  readonly texts: readonly string[];
  readonly payer: Payer;
  readonly requestId: string;
  readonly operation: string;
  /** Minted by us, and written down before: the same key is charged once, however often it is embedded. */
  readonly key: string;
}

/** Vectors that are held for but not yet paid: who keeps them pays, who cannot gives the hold back. */
export interface HeldVectors {
  readonly vectors: readonly (readonly number[])[];
  /** Charges them, once. Rejects when the ledger cannot be reached. */
  settle(): Promise<void>;
}

/** Which model a lake is embedded with, or would be. @returns undefined when there is none. */
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
  const { enforceCredits } = await services.switches.current();
  return embeddingModel(services.catalogue, id, enforceCredits);
}

/**
 * Embeds what a job works on. A crash leaves the hold to whoever does the job next, under the same key; so does an abort.
 * @throws ApiError 422 `insufficient_credits`, `spend_cap_exceeded`; ProviderError, the hold given back then.
 */
export async function holdVectors(
  services: LakeEmbeddingServices,
  wish: PaidTexts,
  options: CallOptions,
): Promise<HeldVectors> {
  const { ledger } = services;
  const { entry, texts, payer, key } = wish;
  const { enforceCredits } = await services.switches.current();
  const size = embeddingSize(texts);
  const about = { ...wish, model: entry.info.id };
  const amount = entry.prices === undefined ? 0 : charge(entry.prices, { input: estimateInput(size) });
  const hold = enforceCredits ? await holdCredit(services, { ...about, amount }) : undefined;
  const stop = hold === undefined ? () => undefined : keepHolding(services, about, hold);
  try {
    const result = await embedTexts(entry, texts, undefined, options);
    if (!result.embeddings.every(hasDirection)) {
      throw new ProviderError('invalid_request', `${entry.info.id} has no direction for some text`);
    }
    const cost = meterEmbedding(entry, hold?.amount ?? 0, size, result, texts.length);
    return {
      vectors: result.embeddings,
      async settle() {
        const details = chargeDetails(about);
        if (hold === undefined)
          await ledger.record({ account: payer.account, key, details, usage: cost.usage });
        else await ledger.settle(hold, cost.amount, cost.usage);
      },
    };
  } catch (error) {
    if (hold !== undefined && options.signal?.aborted !== true) await ledger.release(hold);
    throw error;
  } finally {
    stop();
  }
}

/**
 * The direction of a question, paid for at once.
 * @throws ApiError 422 `insufficient_credits`, `spend_cap_exceeded`; ProviderError
 */
export async function embedQuestion(
  services: LakeEmbeddingServices,
  { entry, texts, payer, requestId, operation, key }: PaidTexts,
  options: CallOptions,
): Promise<readonly number[]> {
  const { enforceCredits } = await services.switches.current();
  const size = embeddingSize(texts);
  const reserved = await reserve(services, {
    key,
    payer,
    amount: entry.prices === undefined ? 0 : charge(entry.prices, { input: estimateInput(size) }),
    operation,
    model: entry.info.id,
    requestId,
    metered: enforceCredits,
  });
  try {
    const result = await embedTexts(entry, texts, undefined, options);
    const { amount, usage } = meterEmbedding(entry, reserved.amount, size, result, texts.length);
    await reserved.settle(amount, usage);
    return result.embeddings[0] ?? [];
  } catch (error) {
    await reserved.release();
    throw error;
  }
}
