import type { ReservationServices } from '../credits/reservations.ts';
import type { CallEnd } from '../credits/usage.ts';
import type { Usage } from '../ports/ledger.ts';
import type { GenerateRequest } from '../ports/models.ts';
import type { CallMoney } from './answering.ts';
import { createCallControl } from './call-control.ts';
import { createMeter } from './meter.ts';
import { openPaidCall, type PaidCallRequest } from './paid-call.ts';
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
  const meter = createMeter({ basis, isMetered, reserved: call.amount, clock });
  let ended: Promise<EndedCost | undefined> | undefined;
  const settle = (how: CallEnd): Promise<EndedCost | undefined> => {
    if (!meter.isDue(how)) return call.release().then(() => undefined);
    const cost = meter.read(how);
    return call.settle(cost).then((charged) => ({ charged, usage: cost.usage }));
  };
  const end = (how: CallEnd): Promise<EndedCost | undefined> => {
    ended ??= settle(how);
    return ended;
  };
  return {
    meter,
    control: createCallControl(meter, clock),
    isMetered,
    end,
    async release() {
      ended ??= call.release().then(() => undefined);
      await ended;
    },
    async left() {
      await end('left');
    },
  };
}
