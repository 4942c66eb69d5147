import type { ReservationServices } from '../credits/reservations.ts';
import type { CallEnd } from '../credits/usage.ts';
import type { Clock } from '../ports/clock.ts';
import type { Usage } from '../ports/ledger.ts';
import type { GenerateRequest } from '../ports/models.ts';
import type { CallMoney } from './answering.ts';
import { type CallControl, createCallControl } from './call-control.ts';
import { createMeter, type Meter } from './meter.ts';
import { type HeldCall, openPaidCall, type PaidCallRequest } from './paid-call.ts';
import { getMaxTokens, getReservation, getTextCallBasis } from './text-call.ts';

/** A text model call with its hold. */
export interface PaidTextCall extends CallMoney {
  readonly isMetered: boolean;
  /**
   * Settles the charge of the call, or releases the hold if it is free. Later calls have no effect. Never rejects.
   */
  end(end: CallEnd): Promise<EndedCost | undefined>;
}

export interface EndedCost {
  /** The charged micro-credits. Undefined: not settled yet, and repeated in the background. */
  readonly charged: number | undefined;
  readonly usage: Usage;
}

/**
 * Holds the maximum cost of a text model call.
 * @throws ApiError 422 `insufficient_credits`, `spend_cap_exceeded`; `model_unavailable` for a model without a price;
 * `context_length_exceeded` for an input that is estimated too long.
 */
export async function openPaidTextCall(
  services: ReservationServices,
  request: Omit<PaidCallRequest, 'amount' | 'tokens'>,
  generateRequest: GenerateRequest,
): Promise<PaidTextCall> {
  const { entry, isMetered } = request;
  const basis = getTextCallBasis(entry, generateRequest, isMetered);
  const call = await openPaidCall(services, {
    ...request,
    amount: getReservation(basis),
    tokens: getMaxTokens(basis),
  });
  const { clock } = services;
  return new MeteredTextCall(
    call,
    createMeter({ basis, isMetered, reserved: call.amount, clock }),
    isMetered,
    clock,
  );
}

/** A class, because every open stream keeps one. */
class MeteredTextCall implements PaidTextCall {
  readonly meter: Meter;
  readonly control: CallControl;
  readonly isMetered: boolean;
  readonly #call: HeldCall;
  #ended: Promise<EndedCost | undefined> | undefined;

  constructor(call: HeldCall, meter: Meter, isMetered: boolean, clock: Clock) {
    this.#call = call;
    this.meter = meter;
    this.control = createCallControl(meter, clock);
    this.isMetered = isMetered;
  }

  end(end: CallEnd): Promise<EndedCost | undefined> {
    this.#ended ??= this.#settle(end);
    return this.#ended;
  }

  #settle(end: CallEnd): Promise<EndedCost | undefined> {
    if (!this.meter.isDue(end)) return this.#call.release().then(() => undefined);
    const cost = this.meter.read(end);
    return this.#call.settle(cost).then((charged) => ({ charged, usage: cost.usage }));
  }

  release(): Promise<void> {
    this.#ended ??= this.#call.release().then(() => undefined);
    return this.#ended.then(() => undefined);
  }

  left(): Promise<void> {
    return this.end('left').then(() => undefined);
  }
}
