import { type Call, payerOf } from '../call.ts';
import { promptSize, reservation } from '../credits/estimates.ts';
import { type Reservation, type ReservationServices, reserve } from '../credits/reservations.ts';
import { ApiError, isApiError } from '../errors.ts';
import type { CatalogueEntry } from '../models/catalogue.ts';
import { createMeter, type Meter } from '../models/meter.ts';
import type { GenerateRequest } from '../ports/models.ts';
import { unpriced } from '../quests/charges.ts';
import type { Switches } from '../settings/admin.ts';
import { createCompletion } from './contract.ts';

export interface CompletionMoneyServices extends ReservationServices {
  readonly switches: Switches;
  readonly completions: { readonly insufficientCreditsStatus: 422 | 403 };
}

/** The money of one model call: what is held for it, and what it has come to. */
export interface CompletionMoney {
  readonly reserved: Reservation;
  readonly meter: Meter;
  /** Nothing came out of the model: the call is free. */
  release(): Promise<void>;
}

/**
 * Holds what a call may cost, under a key of its own.
 * @throws ApiError 422 `insufficient_credits` (or as the setting says), `spend_cap_exceeded`, `model_unavailable`.
 */
export async function holdFor(
  services: CompletionMoneyServices,
  call: Call,
  entry: CatalogueEntry,
  request: GenerateRequest,
  key: string,
): Promise<CompletionMoney> {
  const { enforceCredits } = await services.switches.current();
  const { prices } = entry;
  if (enforceCredits && prices === undefined) throw unpriced(entry);
  const prompt = promptSize(request);
  const { maxTokens } = request;
  const reserved = await reserve(services, {
    key,
    payer: payerOf(call.caller),
    amount: prices === undefined ? 0 : reservation(prices, { ...prompt, maxTokens }),
    operation: createCompletion.id,
    model: entry.info.id,
    requestId: call.requestId,
    metered: enforceCredits,
  }).catch((error: unknown) => {
    throw refusal(error, services.completions.insufficientCreditsStatus);
  });
  const meter = createMeter({
    prices: reserved.metered ? prices : undefined,
    reserved: reserved.amount,
    prompt,
    contextWindow: entry.info.contextWindow,
    maxTokens,
  });
  return { reserved, meter, release: () => reserved.release() };
}

function refusal(error: unknown, status: 422 | 403): unknown {
  if (!isApiError(error) || error.code !== 'insufficient_credits') return error;
  return new ApiError(status, error.message, { code: error.code });
}
