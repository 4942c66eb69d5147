import type { Payer } from '../contract/call.ts';
import { type Reservation, type ReservationServices, reserve } from '../credits/reservations.ts';
import type { CallCost } from '../credits/usage.ts';
import { isProviderError } from '../ports/models.ts';
import { abortable } from '../shared/streams.ts';
import type { CatalogueEntry } from './catalogue.ts';
import { unpriced } from './unpriced.ts';
import { reportRejectedUsage } from './usage-reports.ts';

/** Maximum duration of a call after the client disconnected. After that it is cancelled without a charge. */
const MAX_UNATTENDED_MS = 10 * 60_000;

/** The caller of a paid call and the amount to hold. */
export interface PaidCallRequest {
  readonly entry: CatalogueEntry;
  /** Idempotency key, created by the service: the same key creates one hold. */
  readonly key: string;
  readonly payer: Payer;
  readonly operation: string;
  readonly requestId: string;
  readonly isMetered: boolean;
  /** Maximum cost in micro-credits. */
  readonly amount: number;
  /** Maximum number of tokens, for budgets. Default 0. */
  readonly tokens?: number;
  /**
   * True: a job repeats the call under the same key until it is settled. A failed settlement rejects, and an
   * interrupted call keeps its hold for the repetition; only a failure of the provider releases it. Default false.
   */
  readonly isRepeated?: boolean;
}

/** One provider call with its hold. The first call of `settle` or `release` closes it; later calls have no effect. */
export interface HeldCall extends Pick<Reservation, 'metered' | 'amount' | 'release' | 'keep'> {
  /** @returns the charged micro-credits; undefined: not settled yet. Never rejects, unless `isRepeated`. */
  settle(cost: CallCost): Promise<number | undefined>;
}

/**
 * Holds the maximum cost of a call. The caller must settle or release it.
 * @throws ApiError 422 `insufficient_credits`, `spend_cap_exceeded`, `budget_exceeded`; `model_unavailable` for a model without a price.
 */
export function openPaidCall(services: ReservationServices, request: PaidCallRequest): Promise<HeldCall> {
  const { entry, key, payer, operation, requestId, isMetered, amount, isRepeated = false } = request;
  if (isMetered && entry.prices === undefined) return Promise.reject(unpriced(entry));
  return reserve(services, {
    key,
    payer,
    amount,
    tokens: request.tokens ?? 0,
    isOwnKey: entry.ownKey === true,
    operation,
    model: entry.info.id,
    requestId,
    metered: isMetered,
    isRepeated,
  }).then((reserved) => new ReservedCall(services, request, reserved));
}

/** A class, because every open stream keeps one. */
class ReservedCall implements HeldCall {
  readonly metered: boolean;
  readonly amount: number;
  readonly #services: ReservationServices;
  readonly #request: PaidCallRequest;
  readonly #reserved: Reservation;
  #isSettled = false;

  constructor(services: ReservationServices, request: PaidCallRequest, reserved: Reservation) {
    this.metered = reserved.metered;
    this.amount = reserved.amount;
    this.#services = services;
    this.#request = request;
    this.#reserved = reserved;
  }

  settle(cost: CallCost): Promise<number | undefined> {
    const request = this.#request;
    if (!this.#isSettled) reportRejectedUsage(this.#services, request, request.entry, cost);
    this.#isSettled = true;
    return this.#reserved.settle(cost.amount, cost.usage);
  }

  release(): Promise<void> {
    return this.#reserved.release();
  }

  keep(): void {
    this.#reserved.keep();
  }
}

/** A provider call without streaming. */
export interface WholeCall<R> {
  /** The client's signal. */
  readonly signal: AbortSignal;
  /** An internal signal, e.g. of a timeout: cancels the provider call without a charge. */
  readonly limit?: AbortSignal;
  /**
   * Behaviour when the client disconnects. `stop`: cancels the provider call without a charge. `finish`: the provider
   * cannot cancel; the call continues to its end and its result is charged.
   */
  readonly whenLeft: 'stop' | 'finish';
  /** @param signal the signal for the provider. */
  ask(signal: AbortSignal): Promise<R>;
  cost(result: R): CallCost;
}

/**
 * Holds credit, calls the provider, then settles a result or releases the hold of a failure.
 * @throws ApiError as `openPaidCall`; the error of `ask`; the signal's reason when the client disconnects.
 */
export async function paidCall<R>(
  services: ReservationServices,
  request: PaidCallRequest,
  { signal, limit, whenLeft, ask, cost }: WholeCall<R>,
): Promise<R> {
  const call = await openPaidCall(services, request);
  const control = new AbortController();
  const own = AbortSignal.any(
    [control.signal, limit, whenLeft === 'stop' ? signal : undefined].filter((one) => one !== undefined),
  );
  const work = async (): Promise<R> => {
    try {
      signal.throwIfAborted();
      const result = await abortable(ask(own), own);
      own.throwIfAborted();
      await call.settle(cost(result));
      return result;
    } catch (error) {
      if (request.isRepeated === true && (signal.aborted || !isProviderError(error))) call.keep();
      else await call.release();
      throw error;
    }
  };
  const working = work();
  try {
    return await abortable(working, signal);
  } finally {
    if (signal.aborted) giveUpLater(services, control, working);
  }
}

function giveUpLater(
  { clock }: ReservationServices,
  control: AbortController,
  working: Promise<unknown>,
): void {
  const cancel = clock.timer(MAX_UNATTENDED_MS, () => {
    control.abort(new Error('the client disconnected, and the provider does not answer'));
  });
  working.then(cancel, cancel);
}
