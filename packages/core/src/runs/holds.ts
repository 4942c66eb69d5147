import type { Payer } from '../contract/call.ts';
import { chargeDetails, holdCredit, keepHolding, type ReservationServices } from '../credits/reservations.ts';
import type { CallEnd } from '../credits/usage.ts';
import type { ChargeDetails, Hold } from '../ports/ledger.ts';
import type { LeasedJob } from '../ports/queue.ts';
import type { PendingCharge } from './charges.ts';
import type { ModelCallRecord } from './model-call.ts';

/** A running paid step, with the data that another worker needs to close it. Plain JSON. */
export interface PaidStepRecord {
  readonly key: string;
  readonly account: string;
  readonly details: ChargeDetails;
  /** Absent while credits are not enforced, and before the hold exists. */
  readonly hold?: Hold;
  /** True: the hold counts against budgets only, because credits are not enforced. */
  readonly isFree?: true;
  /** True: stored before the hold was taken, so a hold may exist under the key. */
  readonly isIntended?: true;
  /** Data to compute the charge from the quest's text. Absent: free, unless completed. */
  readonly call?: ModelCallRecord;
}

/** One paid step of a quest. */
export interface PaidStep {
  note(): PaidStepRecord;
  /** Whether a step with this end is charged. */
  isDue(end: CallEnd): boolean;
  /** Computes the charge of a step with this end. */
  due(end: CallEnd): PendingCharge;
  /** Releases the hold of a step without output. Never rejects. */
  release(): Promise<void>;
  /** Stops the renewal of the hold. */
  close(): void;
}

/** The caller and the payer of a paid step. */
export interface StepOptions {
  readonly questId: string;
  readonly job: LeasedJob;
  /** Number of the step in this run, from 0. */
  readonly number: number;
  readonly payer: Payer;
  readonly operation: string;
  readonly requestId: string;
  readonly model: string;
  readonly metered: boolean;
  /** The call uses a provider key of the user. */
  readonly isOwnKey: boolean;
}

/** The hold of a step and the details of its charge. */
export interface StepHold extends Pick<PaidStep, 'release' | 'close'> {
  readonly note: PaidStepRecord;
}

/**
 * Holds the maximum cost of a step and renews the hold. The key is unique per run, because a paused earlier worker
 * may still close its own holds.
 * @param amount micro-credits. @param tokens maximum number of tokens, for budgets; default 0. @throws ApiError 422 `insufficient_credits`, `spend_cap_exceeded`.
 */
export type HoldForStep = (step: StepOptions, amount: number, tokens?: number) => Promise<StepHold>;

export function createHoldForStep(services: ReservationServices): HoldForStep {
  return async (step, amount, tokens = 0) => {
    const { metered, payer, operation, model, requestId, isOwnKey } = step;
    const key = getKey(step);
    const request = { key, payer, amount, tokens, isOwnKey, operation, model, requestId, metered };
    const hold = await holdCredit(services, request);
    const close = hold === undefined ? () => undefined : keepHolding(services, request, hold);
    return {
      note: {
        key: request.key,
        account: payer.account,
        details: chargeDetails(request),
        ...(hold !== undefined && { hold }),
        ...(hold !== undefined && !metered && { isFree: true }),
      },
      close,
      async release() {
        if (hold === undefined) return;
        await services.ledger.release(hold).catch((error: unknown) => {
          // The hold expires.
          services.onError({ operation, requestId, error });
        });
      },
    };
  };
}

/** Returns the record of a step before its hold is taken. */
export function holdIntent(step: StepOptions): PaidStepRecord {
  return {
    key: getKey(step),
    account: step.payer.account,
    details: chargeDetails(step),
    isIntended: true,
  };
}

/**
 * Releases a hold that may exist under a step's key. A hold request of 0 returns an existing hold, or blocks the key
 * for a late request.
 */
export async function releaseIntended(
  { ledger, clock }: ReservationServices,
  { key, account, details }: Pick<PaidStepRecord, 'key' | 'account' | 'details'>,
): Promise<void> {
  const found = await ledger.hold({ account, amount: 0, key, expiresAt: clock.now(), details });
  if (found.outcome === 'held') await ledger.release(found.hold);
}

/** Returns the key of a step. The first step of the first run uses the quest id; most quests have only this step. */
function getKey(step: StepOptions): string {
  const { questId, job, number } = step;
  return isFirst(step) ? questId : `${questId}:${job.fence}:${number}`;
}

/** Whether the quest id alone identifies the hold. Other steps must be stored before the hold. */
export function isFirst({ job, number }: StepOptions): boolean {
  return job.fence === 1 && number === 0;
}

/** Whether a step is charged. */
export function isMetered({ hold, isFree }: Pick<PaidStepRecord, 'hold' | 'isFree'>): boolean {
  return hold !== undefined && isFree !== true;
}
