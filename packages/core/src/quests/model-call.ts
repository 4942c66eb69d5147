import { type PromptSize, promptSize, reservation } from '../credits/estimates.ts';
import type { Prices } from '../credits/pricing.ts';
import type { ReservationServices } from '../credits/reservations.ts';
import type { CatalogueEntry } from '../models/catalogue.ts';
import { createMeter, type Meter } from '../models/meter.ts';
import type { GenerateRequest } from '../ports/models.ts';
import { type DueCharge, unpriced } from './charges.ts';
import { holdForStep, type OpenStepNote, type PaidStep, type StepTerms } from './holds.ts';

/** The terms a model call was begun under. Plain JSON. */
export interface CallNote {
  readonly prices?: Prices;
  readonly prompt: PromptSize;
  readonly contextWindow: number;
  readonly maxTokens: number;
  /** Code points the model had said when this was written. */
  readonly spoken: number;
}

/** A model call, paid for by what its meter has seen. */
export interface PaidCall extends PaidStep {
  readonly meter: Meter;
}

/**
 * Holds what a model call may cost.
 * @throws ApiError 422 `insufficient_credits`, `spend_cap_exceeded`; `model_unavailable` for a model without a price.
 */
export async function openModelCall(
  services: ReservationServices,
  terms: StepTerms,
  entry: CatalogueEntry,
  request: GenerateRequest,
): Promise<PaidCall> {
  const { info, prices } = entry;
  if (terms.metered && prices === undefined) throw unpriced(entry);
  const prompt = promptSize(request);
  const { maxTokens } = request;
  const amount = prices === undefined ? 0 : reservation(prices, { ...prompt, maxTokens });
  const held = await holdForStep(services, terms, amount);
  const { contextWindow } = info;
  const call: CallNote = {
    ...(prices !== undefined && { prices }),
    prompt,
    contextWindow,
    maxTokens,
    spoken: 0,
  };
  const meter = meterOf(held.note, call);
  return {
    get note() {
      return { ...held.note, call: { ...call, spoken: meter.spoken } };
    },
    meter,
    get produced() {
      return meter.produced;
    },
    due: (finished) => dueOf(held.note, meter, finished),
    close: held.close,
    release: held.release,
  };
}

/**
 * What a step came to whose worker vanished, as far as it was written down.
 * @returns undefined when nothing came out, and it is free.
 */
export function dueOfVanished(note: OpenStepNote): DueCharge | undefined {
  const { call } = note;
  if (call === undefined || call.spoken === 0) return undefined;
  return dueOf(note, meterOf(note, call), false);
}

function meterOf(
  { hold }: OpenStepNote,
  { prices, prompt, contextWindow, maxTokens, spoken }: CallNote,
): Meter {
  return createMeter({
    prices: hold === undefined ? undefined : prices,
    reserved: hold?.amount ?? 0,
    prompt,
    contextWindow,
    maxTokens,
    spoken,
  });
}

function dueOf({ call: _, ...booking }: OpenStepNote, meter: Meter, finished: boolean): DueCharge {
  return { ...booking, ...meter.read(finished) };
}
