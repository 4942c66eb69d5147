import type { CallOptions, CapUsage, Hold, HoldOutcome, HoldRequest, Usage } from '@questline/core/ports';

/** A request with the fields that the ledger adds. */
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

/** Which expired holds: all, or those of the account and cap of one hold. */
export interface LapseScope {
  readonly account?: string | undefined;
  readonly capId?: string | undefined;
}

/**
 * The writes that differ between engines; every call is atomic. The sums in `accounts` and `caps` may contain expired
 * holds; a refusal first subtracts them and tries again.
 */
export interface LedgerWrites {
  hold(request: NewHold, options: CallOptions | undefined): Promise<HoldOutcome>;
  /** @returns false if it is settled already or unknown. */
  settle(hold: Hold, actual: number, usage: Usage | undefined, now: number): Promise<boolean>;
  /** @returns false if it has ended already or is unknown. */
  release(hold: Hold): Promise<boolean>;
  grant(entry: NewGrant, options: CallOptions | undefined): Promise<boolean>;
  /** Subtracts some expired holds from the sums. @returns their number; 0 if none is left. */
  lapse(scope: LapseScope, now: number, options: CallOptions | undefined): Promise<number>;
}

/** The available credit of an account and the used amounts of its caps. Undefined: no row yet. */
export interface Standing {
  readonly available: number | undefined;
  readonly used: number | undefined;
  /** By cap id. */
  readonly caps?: ReadonlyMap<string, CapUsage>;
}

const UNUSED: CapUsage = { spent: 0, reserved: 0 };

/** The reason for a refusal. Undefined if the hold can be granted. */
export function toErrorResponse(
  { amount, cap, caps = [], ignoresBalance }: HoldRequest,
  { available = 0, used = 0, caps: states }: Standing,
): HoldOutcome | undefined {
  if (available < amount && ignoresBalance !== true) {
    return { outcome: 'insufficient_credits', available, required: amount };
  }
  if (cap !== undefined && used + amount > cap.limit) {
    return { outcome: 'spend_cap_exceeded', used, limit: cap.limit, required: amount };
  }
  for (const { id: capId, limit, amount: required } of caps) {
    const usage = states?.get(capId) ?? UNUSED;
    if (usage.spent + usage.reserved + required > limit) {
      return { outcome: 'cap_exceeded', capId, ...usage, limit, required };
    }
  }
  return undefined;
}

/** The column values of a hold. */
export function holdValues({ id, key, account, amount, expiresAt, cap, details, now }: NewHold) {
  const { operation, model, keyId, userId, requestId } = details;
  const detailValues = { operation, model, keyId, userId, requestId };
  return { id, key, account, amount, expiresAt, capId: cap?.id, capLimit: cap?.limit, now, ...detailValues };
}

export function toText(usage: Usage | undefined): string | null {
  return usage === undefined ? null : JSON.stringify(usage);
}
