import type { Payer } from '../contract/call.ts';
import type { Clock } from '../ports/clock.ts';
import type { ChargeDetails, CreditLedger, Hold, Usage } from '../ports/ledger.ts';
import type { Incident } from '../shared/incident.ts';
import type { Budgets, CallBudget } from './budgets.ts';
import type { HoldHeartbeat } from './hold-heartbeat.ts';
import { requireInLists } from './model-lists.ts';
import { toRefusal } from './refusals.ts';
import type { SettlementRetries } from './settlement-retries.ts';
import { getSpendCap } from './spend-caps.ts';

/** Lease of a hold that no heartbeat renews: it expires after this time without renewal. */
const LEASE_MS = 15 * 60_000;
/** Renewal interval. It is short enough that one failed renewal does no harm. */
export const RENEW_EVERY_MS = LEASE_MS / 3;

const NO_CAPS = 'the ledger has no capUsage, so calls that a budget counts are refused';

export interface ReservationServices {
  readonly ledger: CreditLedger;
  readonly budgets: Budgets;
  readonly heartbeat: HoldHeartbeat;
  readonly settlementRetries: SettlementRetries;
  readonly clock: Clock;
  readonly onError: (incident: Incident) => void;
}

export interface ReservationRequest {
  /** Idempotency key, created by the service: the same key creates one hold. */
  readonly key: string;
  readonly payer: Payer;
  /** Whole micro-credits. */
  readonly amount: number;
  /** Maximum number of tokens, for budgets. Default 0: the call has none. */
  readonly tokens?: number;
  /** The call uses a provider key of the user. Default false. */
  readonly isOwnKey?: boolean;
  readonly operation: string;
  readonly model?: string;
  readonly requestId: string;
  /** False: nothing is held or charged; usage is still recorded. */
  readonly metered: boolean;
  /** True: a failed settlement rejects, because a job will repeat it. Default: it is retried in the background. */
  readonly isRepeated?: boolean;
}

/** Credit held for one paid call. The first call of `settle` or `release` closes it; later calls have no effect. */
export interface Reservation {
  readonly metered: boolean;
  /** Whole micro-credits; 0 when not metered. */
  readonly amount: number;
  /**
   * @returns the charged micro-credits. Never rejects, unless `isRepeated`: a failed settlement is retried in the background,
   * and its amount is undefined.
   */
  settle(amount: number, usage: Usage): Promise<number | undefined>;
  /** Never rejects. */
  release(): Promise<void>;
  /** Stops the renewal and keeps the hold until it expires, for a repetition under the same key. */
  keep(): void;
}

/**
 * Holds credit and renews the hold until it is closed.
 * @throws ApiError 422 `insufficient_credits`, `spend_cap_exceeded`, `budget_exceeded` or `model_not_allowed`.
 */
export function reserve(services: ReservationServices, request: ReservationRequest): Promise<Reservation> {
  // A job that repeats the call finds the hold again, also after the end of this process.
  const { heartbeat } = services;
  const leaseMs = request.isRepeated === true ? undefined : heartbeat.leaseMs;
  return holdCredit(services, request, leaseMs).then((hold) => {
    if (hold === undefined) return new UnmeteredReservation(services, request);
    const stop = leaseMs === undefined ? keepHolding(services, request, hold) : heartbeat.keep(hold);
    return new CreditReservation(services, request, hold, stop);
  });
}

/**
 * Creates the hold without renewal; see `keepHolding`. Idempotent by key. A call that is not metered holds no credit, and
 * has a hold only if a budget counts it.
 * @throws ApiError 422 `insufficient_credits`, `spend_cap_exceeded`, `budget_exceeded` or `model_not_allowed`.
 */
export async function holdCredit(
  services: ReservationServices,
  request: ReservationRequest,
  leaseMs = LEASE_MS,
): Promise<Hold | undefined> {
  const { ledger, clock } = services;
  const { payer, metered, model } = request;
  if (model !== undefined) requireInLists(payer.modelLists, model);
  const found = findBudgets(services, request);
  const budgets = found instanceof Promise ? await found : found;
  if (!metered && budgets.length === 0) return undefined;
  // Such a ledger ignores caps: the call would count against no budget.
  if (budgets.length > 0 && ledger.capUsage === undefined) throw new Error(NO_CAPS);
  const now = clock.now();
  const cap = metered ? getSpendCap(payer, now) : undefined;
  const outcome = await ledger.hold({
    account: payer.account,
    amount: metered ? request.amount : 0,
    key: request.key,
    expiresAt: now + leaseMs,
    details: chargeDetails(request),
    ...(cap !== undefined && { cap }),
    ...(budgets.length > 0 && { caps: budgets.map((budget) => budget.cap) }),
    ...(!metered && { ignoresBalance: true }),
  });
  if (outcome.outcome !== 'held') throw toRefusal(outcome, budgets, payer.account);
  return outcome.hold;
}

function findBudgets(
  { budgets }: ReservationServices,
  { payer, model, metered, amount, tokens = 0, isOwnKey = false }: ReservationRequest,
): readonly CallBudget[] | Promise<readonly CallBudget[]> {
  return budgets.forCall({ payer, model, isOwnKey, isMetered: metered, amount, tokens });
}

/** Returns the details of a charge. */
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

/** Classes, because every open stream keeps one: closures take several times the memory. */
class CreditReservation implements Reservation {
  readonly metered: boolean;
  readonly amount: number;
  readonly #services: ReservationServices;
  readonly #request: ReservationRequest;
  readonly #hold: Hold;
  readonly #stopRenewing: () => void;
  #ended: Promise<number | undefined> | undefined;

  constructor(
    services: ReservationServices,
    request: ReservationRequest,
    hold: Hold,
    stopRenewing: () => void,
  ) {
    this.metered = request.metered;
    this.amount = hold.amount;
    this.#services = services;
    this.#request = request;
    this.#hold = hold;
    this.#stopRenewing = stopRenewing;
  }

  settle(amount: number, usage: Usage): Promise<number | undefined> {
    const due = this.metered ? amount : 0;
    const details = chargeDetails(this.#request);
    this.#ended ??= close(this.#services, this.#request, this.#stopRenewing, {
      description: `the charge of ${due} micro-credits`,
      work: async () => (await this.#services.ledger.settle(this.#hold, due, usage, details)).charged,
    });
    return this.#ended;
  }

  release(): Promise<void> {
    this.#ended ??= close(this.#services, this.#request, this.#stopRenewing, {
      description: 'the release',
      work: async () => {
        await this.#services.ledger.release(this.#hold);
        return 0;
      },
    });
    return this.#ended.then(() => undefined);
  }

  keep(): void {
    this.#stopRenewing();
  }
}

class UnmeteredReservation implements Reservation {
  readonly metered = false;
  readonly amount = 0;
  readonly #services: ReservationServices;
  readonly #request: ReservationRequest;
  #ended: Promise<number | undefined> | undefined;

  constructor(services: ReservationServices, request: ReservationRequest) {
    this.#services = services;
    this.#request = request;
  }

  settle(_amount: number, usage: Usage): Promise<number | undefined> {
    const { key, payer } = this.#request;
    const use = { account: payer.account, key, details: chargeDetails(this.#request), usage };
    this.#ended ??= close(this.#services, this.#request, this.keep, {
      description: 'the usage',
      work: async () => {
        await this.#services.ledger.record(use);
        return 0;
      },
    });
    return this.#ended;
  }

  release(): Promise<void> {
    this.#ended ??= Promise.resolve(0);
    return this.#ended.then(() => undefined);
  }

  keep(): void {}
}

/** How a reservation ends. */
interface End {
  /** For operators. */
  readonly description: string;
  readonly work: () => Promise<number>;
}

function close(
  services: ReservationServices,
  request: ReservationRequest,
  stopRenewing: () => void,
  last: End,
): Promise<number | undefined> {
  // Until a retry succeeds, nothing else may spend the held credit.
  return request.isRepeated === true
    ? last.work().finally(stopRenewing)
    : withRetry(services, request, last, stopRenewing);
}

/** Extends a hold once, for work that outlives one worker. @returns false if the hold is no longer open. */
export async function renewHold({ ledger, clock }: ReservationServices, hold: Hold): Promise<boolean> {
  return ledger.renew(hold, clock.now() + LEASE_MS);
}

/**
 * Renews a hold periodically, so that the sweep does not release it while the work runs. @returns a function that
 * stops the renewal.
 */
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
 * Tries once while the caller waits, then retries in the background: an unavailable ledger must neither block a
 * stream nor lose the charge. Retries are safe, because a hold settles once.
 */
async function withRetry(
  { settlementRetries }: ReservationServices,
  { operation, requestId, key, payer }: ReservationRequest,
  { description, work }: End,
  onEnd: () => void,
): Promise<number | undefined> {
  try {
    const charged = await work();
    onEnd();
    return charged;
  } catch (error) {
    const call = `${description} of ${payer.account} with the key ${key}`;
    settlementRetries.add({ operation, requestId, description: call, work, onEnd }, error);
    return undefined;
  }
}

function report(
  services: ReservationServices,
  request: Pick<ReservationRequest, 'operation' | 'requestId'>,
  error: unknown,
): void {
  services.onError({ operation: request.operation, requestId: request.requestId, error });
}
