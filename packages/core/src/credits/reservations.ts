import { type Payer, spendCapOf } from '../call.ts';
import { ApiError } from '../errors.ts';
import type { Incident } from '../incident.ts';
import type { Clock } from '../ports/clock.ts';
import type { ChargeDetails, CreditLedger, Hold, Usage } from '../ports/ledger.ts';
import { toCredits } from './amounts.ts';

/** How long a hold counts without a sign of life. @see open points, 7 */
const LEASE_MS = 15 * 60_000;
/** Renewed well within the lease, so that one failed renewal does no harm. */
export const RENEW_EVERY_MS = LEASE_MS / 3;
/** Pauses between tries of a settlement that the ledger could not take. */
const RETRY_PAUSES_MS = [200, 1000, 5000, 15_000, 60_000, 120_000, 300_000];

export interface ReservationServices {
  readonly ledger: CreditLedger;
  readonly clock: Clock;
  readonly onError: (incident: Incident) => void;
}

export interface ReservationRequest {
  /** Minted by us: the same key never holds twice. */
  readonly key: string;
  readonly payer: Payer;
  /** Whole micro-credits. */
  readonly amount: number;
  readonly operation: string;
  readonly model?: string;
  readonly requestId: string;
  /** False: nothing is held or charged, usage is written down. */
  readonly metered: boolean;
}

/** Credit held for one paid call. Ends once: by `settle` or by `release`, whichever comes first. */
export interface Reservation {
  readonly metered: boolean;
  /** Whole micro-credits; 0 when not metered. */
  readonly amount: number;
  /** @returns what was charged, whole micro-credits. Never rejects: a ledger that fails is tried again in the background. */
  settle(amount: number, usage: Usage): Promise<number>;
  /** Never rejects. */
  release(): Promise<void>;
}

/**
 * Holds credit, and keeps holding it while the work lives.
 * @throws ApiError 422 `insufficient_credits` or `spend_cap_exceeded`.
 */
export async function reserve(
  services: ReservationServices,
  request: ReservationRequest,
): Promise<Reservation> {
  if (!request.metered) return unmetered(services, request);
  return held(services, request, await holdCredit(services, request));
}

/**
 * The hold alone: nobody renews it unless `keepHolding` does. The same key answers the same hold again.
 * @throws ApiError 422 `insufficient_credits` or `spend_cap_exceeded`.
 */
export async function holdCredit(
  services: ReservationServices,
  request: Omit<ReservationRequest, 'metered'>,
): Promise<Hold> {
  const { ledger, clock } = services;
  const { payer } = request;
  const cap = spendCapOf(payer, clock.now());
  const outcome = await ledger.hold({
    account: payer.account,
    amount: request.amount,
    key: request.key,
    expiresAt: clock.now() + LEASE_MS,
    details: chargeDetails(request),
    ...(cap !== undefined && { cap }),
  });
  if (outcome.outcome !== 'held') throw refusalOf(outcome);
  return outcome.hold;
}

/** What a charge is told to have been for. */
export function chargeDetails({
  operation,
  model,
  payer,
  requestId,
}: Pick<ReservationRequest, 'operation' | 'model' | 'payer' | 'requestId'>): ChargeDetails {
  return {
    operation,
    userId: payer.userId,
    requestId,
    ...(model !== undefined && { model }),
    ...(payer.keyId !== undefined && { keyId: payer.keyId }),
  };
}

function held(services: ReservationServices, request: ReservationRequest, hold: Hold): Reservation {
  const { ledger } = services;
  const stopRenewing = keepHolding(services, request, hold);
  let ended: Promise<number> | undefined;
  const end = (work: () => Promise<number>, fallback: number): Promise<number> => {
    ended ??= insisting(services, request, work, fallback).finally(stopRenewing);
    return ended;
  };
  return {
    metered: true,
    amount: hold.amount,
    settle: (amount, usage) => end(async () => (await ledger.settle(hold, amount, usage)).charged, amount),
    release: async () => {
      await end(async () => {
        await ledger.release(hold);
        return 0;
      }, 0);
    },
  };
}

function unmetered(services: ReservationServices, request: ReservationRequest): Reservation {
  const { key } = request;
  const { account } = request.payer;
  let ended = false;
  return {
    metered: false,
    amount: 0,
    async settle(_amount, usage) {
      if (ended) return 0;
      ended = true;
      const work = async (): Promise<number> => {
        await services.ledger.record({ account, key, details: chargeDetails(request), usage });
        return 0;
      };
      return insisting(services, request, work, 0);
    },
    async release() {
      ended = true;
    },
  };
}

/** Once, for work that lasts longer than any worker has it in hand. @returns false when it is no longer open. */
export async function renewHold({ ledger, clock }: ReservationServices, hold: Hold): Promise<boolean> {
  return ledger.renew(hold, clock.now() + LEASE_MS);
}

/** A sweeper must not free the hold of work that is still alive. @returns stops it. */
export function keepHolding(
  services: ReservationServices,
  request: Pick<ReservationRequest, 'operation' | 'requestId'>,
  hold: Hold,
): () => void {
  const { clock } = services;
  let cancel = clock.timer(RENEW_EVERY_MS, renew);
  function renew(): void {
    cancel = clock.timer(RENEW_EVERY_MS, renew);
    renewHold(services, hold).catch((error: unknown) => report(services, request, error));
  }
  return () => cancel();
}

/**
 * Tries once while the caller waits; a failure is tried again in the background, because a stream must not hang on a
 * ledger that is away, and the charge must not be lost with it. Repeating is safe: a hold settles once.
 */
async function insisting(
  services: ReservationServices,
  request: ReservationRequest,
  work: () => Promise<number>,
  fallback: number,
): Promise<number> {
  try {
    return await work();
  } catch (error) {
    report(services, request, error);
    retryLater(services, request, work, 0);
    return fallback;
  }
}

function retryLater(
  services: ReservationServices,
  request: ReservationRequest,
  work: () => Promise<number>,
  attempt: number,
): void {
  const pause = RETRY_PAUSES_MS[attempt];
  if (pause === undefined) return;
  services.clock.timer(pause, () => {
    work().catch((error: unknown) => {
      report(services, request, error);
      retryLater(services, request, work, attempt + 1);
    });
  });
}

function report(
  services: ReservationServices,
  request: Pick<ReservationRequest, 'operation' | 'requestId'>,
  error: unknown,
): void {
  services.onError({ operation: request.operation, requestId: request.requestId, error });
}

function refusalOf(
  outcome: Exclude<Awaited<ReturnType<CreditLedger['hold']>>, { outcome: 'held' }>,
): ApiError {
  const required = toCredits(outcome.required);
  if (outcome.outcome === 'insufficient_credits') {
    return new ApiError(
      422,
      `Insufficient credits. You have ${toCredits(outcome.available)} credits, but this request requires approximately ${required} credits.`,
      { code: 'insufficient_credits' },
    );
  }
  return new ApiError(
    422,
    `Spend cap reached. This key may spend ${toCredits(outcome.limit)} credits in its period and has used or reserved ${toCredits(outcome.used)}; this request requires approximately ${required} credits.`,
    { code: 'spend_cap_exceeded' },
  );
}
