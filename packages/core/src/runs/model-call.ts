import type { ReservationServices } from '../credits/reservations.ts';
import type { CallMoney } from '../models/answering.ts';
import { createCallControl } from '../models/call-control.ts';
import type { CatalogueEntry } from '../models/catalogue.ts';
import { createMeter, type Meter } from '../models/meter.ts';
import { getMaxTokens, getReservation, getTextCallBasis, type TextCallBasis } from '../models/text-call.ts';
import { reportRejectedUsage } from '../models/usage-reports.ts';
import type { Clock } from '../ports/clock.ts';
import type { GenerateRequest } from '../ports/models.ts';
import type { PendingCharge } from './charges.ts';
import {
  type HoldForStep,
  isMetered,
  type PaidStep,
  type PaidStepRecord,
  type StepOptions,
} from './holds.ts';

/** The conditions of a started model call. Plain JSON. */
export interface ModelCallRecord extends TextCallBasis {
  /** Code points of output when this record was written. */
  readonly spoken: number;
}

/** A model call that is charged by its meter. */
export interface PaidCall extends PaidStep, Omit<CallMoney, 'release'> {}

/**
 * Checks a model call; the returned function holds its maximum cost.
 * @throws ApiError 422 `insufficient_credits`, `spend_cap_exceeded`; `model_unavailable` for a model without a price;
 * `context_length_exceeded` for an input that is estimated too long.
 */
export type PrepareModelCall = (
  step: StepOptions,
  entry: CatalogueEntry,
  request: GenerateRequest,
) => () => Promise<PaidCall>;

export function createPrepareModelCall(services: ReservationServices, hold: HoldForStep): PrepareModelCall {
  const { clock } = services;
  return (step, entry, request) => {
    const basis = getTextCallBasis(entry, request, step.metered);
    const amount = getReservation(basis);
    return async () => {
      const held = await hold(step, amount, getMaxTokens(basis));
      const meter = getMeter(clock, held.note, { ...basis, spoken: 0 });
      return {
        note: () => ({ ...held.note, call: { ...basis, spoken: meter.spoken } }),
        meter,
        control: createCallControl(meter, clock),
        isDue: (end) => meter.isDue(end),
        due(end) {
          const cost = meter.read(end);
          if (cost.rejected !== undefined) reportRejectedUsage(services, step, entry, cost);
          return { ...held.note, amount: cost.amount, usage: cost.usage };
        },
        close: held.close,
        release: held.release,
        // The end of the run decides the end of the step.
        left: () => Promise.resolve(),
      };
    };
  };
}

/**
 * Computes the charge of a step whose worker crashed, from its stored record. @returns undefined if there was no
 * output: free.
 */
export function chargeInterrupted(clock: Clock, note: PaidStepRecord): PendingCharge | undefined {
  const { call, ...booking } = note;
  if (call === undefined || call.spoken === 0) return undefined;
  const { amount, usage } = getMeter(clock, note, call).read('broken');
  return { ...booking, amount, usage };
}

function getMeter(clock: Clock, note: PaidStepRecord, { spoken, ...basis }: ModelCallRecord): Meter {
  const reserved = note.hold?.amount ?? 0;
  return createMeter({ basis, isMetered: isMetered(note), reserved, clock, spoken });
}
