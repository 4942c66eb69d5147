import type { Payer } from '../call.ts';
import { chargeDetails, holdCredit, keepHolding, type ReservationServices } from '../credits/reservations.ts';
import type { ChargeDetails, Hold } from '../ports/ledger.ts';
import type { LeasedJob } from '../ports/queue.ts';
import type { DueCharge } from './charges.ts';
import type { CallNote } from './model-call.ts';

/** A paid step under way: what a successor needs to end it. Plain JSON. */
export interface OpenStepNote {
  readonly key: string;
  readonly account: string;
  readonly details: ChargeDetails;
  /** Absent while metering is off, and before it is known. */
  readonly hold?: Hold;
  /** Written before the hold is taken: there may be one under the key. */
  readonly isIntended?: true;
  /** What tells its cost from the quest's text. Absent: free, unless it came to its end. */
  readonly call?: CallNote;
}

/** One paid step of a quest, from its hold to its end. */
export interface PaidStep {
  readonly note: OpenStepNote;
  /** What came out must be paid for. */
  readonly produced: boolean;
  /** What the step has come to. `finished`: it came to its own end. */
  due(finished: boolean): DueCharge;
  /** Nothing came out: the step is free. Never rejects. */
  release(): Promise<void>;
  /** The hold is renewed no more. */
  close(): void;
}

/** Who asks for a paid step, and who pays for it. */
export interface StepTerms {
  readonly questId: string;
  readonly job: LeasedJob;
  /** Which step of this run it is, from 0. */
  readonly number: number;
  readonly payer: Payer;
  readonly operation: string;
  readonly requestId: string;
  readonly model: string;
  readonly metered: boolean;
}

/** A step's hold, and what its charge will be booked under. */
export interface StepHold extends Pick<PaidStep, 'release' | 'close'> {
  readonly note: OpenStepNote;
}

/**
 * Holds what a step may cost, and keeps holding it. Nobody else ever holds under its key: the worker before this one may
 * still be there, paused, and must have nothing that it could end.
 * @param amount whole micro-credits.
 * @throws ApiError 422 `insufficient_credits`, `spend_cap_exceeded`.
 */
export async function holdForStep(
  services: ReservationServices,
  terms: StepTerms,
  amount: number,
): Promise<StepHold> {
  const { metered, payer, operation, model, requestId } = terms;
  const wish = { key: keyOf(terms), payer, amount, operation, model, requestId };
  const hold = metered ? await holdCredit(services, wish) : undefined;
  const close = hold === undefined ? () => undefined : keepHolding(services, wish, hold);
  return {
    note: {
      key: wish.key,
      account: payer.account,
      details: chargeDetails(wish),
      ...(hold !== undefined && { hold }),
    },
    close,
    async release() {
      close();
      if (hold === undefined) return;
      await services.ledger.release(hold).catch((error: unknown) => {
        // It lapses by itself.
        services.onError({ operation, requestId, error });
      });
    },
  };
}

/** What is known of a step before its hold is taken. */
export function intentionOf(terms: StepTerms): OpenStepNote {
  return {
    key: keyOf(terms),
    account: terms.payer.account,
    details: chargeDetails(terms),
    isIntended: true,
  };
}

/**
 * Gives back what may be held under a step's key. The same key answers the same hold again: asking for nothing finds
 * what there is, and leaves nothing to be taken late.
 */
export async function releaseIntended(
  { ledger, clock }: ReservationServices,
  { key, account, details }: Pick<OpenStepNote, 'key' | 'account' | 'details'>,
): Promise<void> {
  const found = await ledger.hold({ account, amount: 0, key, expiresAt: clock.now(), details });
  if (found.outcome === 'held') await ledger.release(found.hold);
}

/** The first step of the first run, which most quests end with, has the quest's own id. */
function keyOf(terms: StepTerms): string {
  const { questId, job, number } = terms;
  return isFirst(terms) ? questId : `${questId}:${job.fence}:${number}`;
}

/** Whether a successor finds the step's hold by the quest's id alone; any other one must be written down first. */
export function isFirst({ job, number }: StepTerms): boolean {
  return job.fence === 1 && number === 0;
}
