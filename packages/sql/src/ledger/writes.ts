import type { CallOptions, Hold, HoldOutcome, HoldRequest } from '@questline/core';

/** A request with what the ledger adds to it. */
export interface NewHold extends HoldRequest {
  readonly id: string;
  readonly now: number;
}

export interface NewGrant {
  readonly account: string;
  readonly amount: number;
  readonly key: string;
  readonly reason: string;
  readonly now: number;
}

/** Which lapsed holds: all, or those that stand in one hold's way. */
export interface LapseScope {
  readonly account?: string | undefined;
  readonly capId?: string | undefined;
}

/**
 * What each engine does in its own way, every call atomic. The sums in `accounts` and `caps` may still contain holds that
 * have lapsed: then they err on the safe side, and nothing is refused before those have been taken out.
 */
export interface LedgerWrites {
  hold(request: NewHold, options: CallOptions | undefined): Promise<HoldOutcome>;
  /** @returns false when it had been settled before, or is unknown. */
  settle(hold: Hold, actual: number, usage: string | null, now: number): Promise<boolean>;
  /** @returns false when it had ended before, or is unknown. */
  release(hold: Hold): Promise<boolean>;
  grant(entry: NewGrant, options: CallOptions | undefined): Promise<boolean>;
  /** Takes some lapsed holds out of the sums. @returns how many; 0 when there are no more. */
  lapse(scope: LapseScope, now: number, options: CallOptions | undefined): Promise<number>;
}

/** What an account and a cap have room for now. Undefined: there is no row yet. */
export interface Standing {
  readonly available: number | undefined;
  readonly used: number | undefined;
}

/** Why a hold cannot be granted. Undefined when it can. */
export function refusalOf(
  { amount, cap }: HoldRequest,
  { available = 0, used = 0 }: Standing,
): HoldOutcome | undefined {
  if (available < amount) return { outcome: 'insufficient_credits', available, required: amount };
  if (cap === undefined || used + amount <= cap.limit) return undefined;
  return { outcome: 'spend_cap_exceeded', used, limit: cap.limit, required: amount };
}

/** What a hold is written down as, by column. */
export function holdValues({ id, key, account, amount, expiresAt, cap, details, now }: NewHold) {
  const { operation, model, keyId, userId, requestId } = details;
  const detailValues = { operation, model, keyId, userId, requestId };
  return { id, key, account, amount, expiresAt, capId: cap?.id, capLimit: cap?.limit, now, ...detailValues };
}
