import { type Call, payerOf } from '../call.ts';
import { promptSize, reservation } from '../credits/estimates.ts';
import { type Reservation, type ReservationServices, reserve } from '../credits/reservations.ts';
import type { Intake } from '../engine/intake.ts';
import { ApiError, isApiError } from '../errors.ts';
import type { GenerateRequest, ModelPart } from '../ports/models.ts';
import type { CatalogueOf } from '../provider-keys/own-models.ts';
import { unpriced } from '../quests/charges.ts';
import type { Switches } from '../settings/admin.ts';
import { type AnsweringServices, askModels, type CallMoney } from './answering.ts';
import { candidatesFor } from './candidates.ts';
import type { CatalogueEntry } from './catalogue.ts';
import { providerFailure } from './failures.ts';
import { createMeter, type Meter } from './meter.ts';

export interface AskServices extends AnsweringServices, ReservationServices {
  readonly catalogueOf: CatalogueOf;
  readonly switches: Switches;
  readonly intake: Intake;
  readonly fallbacks: Readonly<Record<string, readonly string[]>>;
}

interface Money extends CallMoney {
  readonly reserved: Reservation;
  readonly meter: Meter;
}

/**
 * One question and its whole answer, while the caller waits: hold, ask, settle what it came to. Free when nothing came
 * out of the model.
 * @throws ApiError 422 `insufficient_credits`, `spend_cap_exceeded`; the provider's failure in words for callers.
 */
export async function askOnce(
  services: AskServices,
  call: Call,
  operation: string,
  model: CatalogueEntry,
  wish: Pick<GenerateRequest, 'messages' | 'maxTokens'>,
): Promise<string> {
  services.intake.admit();
  const { signal, requestId } = call;
  const { enforceCredits: metered } = await services.switches.current();
  let holds = 0;

  const pay = async (entry: CatalogueEntry, request: GenerateRequest): Promise<Money> => {
    if (metered && entry.prices === undefined) throw unpriced(entry);
    const prompt = promptSize(request);
    const { maxTokens } = request;
    holds += 1;
    const reserved = await reserve(services, {
      // Minted by us; another one for a model that stands in.
      key: holds === 1 ? call.id : `${call.id}:${holds}`,
      payer: payerOf(call.caller),
      amount: entry.prices === undefined ? 0 : reservation(entry.prices, { ...prompt, maxTokens }),
      operation,
      model: entry.info.id,
      requestId,
      metered,
    });
    const meter = createMeter({
      prices: reserved.metered ? entry.prices : undefined,
      reserved: reserved.amount,
      prompt,
      contextWindow: entry.info.contextWindow,
      maxTokens,
    });
    return { reserved, meter, release: () => reserved.release() };
  };

  try {
    const catalogue = await services.catalogueOf(call.caller.userId);
    const { chunks, money } = await askModels(services, {
      candidates: candidatesFor({ catalogue, fallbacks: services.fallbacks }, model.info.id),
      requestFor: ({ info, providerModel }) => ({
        ...wish,
        model: providerModel,
        maxTokens: Math.min(wish.maxTokens, info.maxOutputTokens),
      }),
      pay,
      operation,
      requestId,
      signal,
    });
    return await readAll(chunks, money);
  } catch (error) {
    if (signal.aborted) throw new ApiError(400, 'The client left before the answer was whole');
    throw isApiError(error) ? error : providerFailure(error, 'application');
  }
}

async function readAll(
  chunks: AsyncIterator<ModelPart | readonly ModelPart[]>,
  money: Money,
): Promise<string> {
  const { meter, reserved } = money;
  let text = '';
  let isWhole = false;
  try {
    for (;;) {
      const step = await chunks.next();
      if (step.done === true) break;
      const { value } = step;
      const parts = Array.isArray(value) ? (value as readonly ModelPart[]) : [value as ModelPart];
      for (const part of parts) {
        meter.see(part);
        if (part.type === 'text') text += part.text;
      }
    }
    isWhole = true;
    return text;
  } finally {
    if (isWhole || meter.produced) {
      const { amount, usage } = meter.read(isWhole);
      await reserved.settle(amount, usage);
    } else {
      await reserved.release();
    }
  }
}
