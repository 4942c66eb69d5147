import type { CallOptions } from './options.ts';

/*
 * All amounts are whole micro-credits (1 credit = 1,000,000) as safe integers; nothing here is ever a fraction.
 * An account is `user:<id>` or `organization:<id>`.
 */

/** A sum of money as the account's owner sees it. */
export interface Balance {
  /** Everything granted minus everything charged. Below zero only through a shortfall at settlement. */
  readonly posted: number;
  /** The sum of open holds. */
  readonly held: number;
  /** `posted - held`: what a new hold may take. */
  readonly available: number;
}

/** A ceiling on what may be charged under one name, e.g. an API key's spending this month. */
export interface SpendCap {
  /** Names the cap and its period: a new period is a new id. */
  readonly id: string;
  readonly limit: number;
}

/** Tokens by class. Classes don't overlap: no token stands in two of them. Other units of paid work travel the same way. */
export interface Usage {
  readonly input?: number;
  readonly output?: number;
  readonly cachedInput?: number;
  readonly cacheWrite?: number;
  readonly reasoning?: number;
  readonly images?: number;
  readonly seconds?: number;
  readonly characters?: number;
  readonly bytes?: number;
}

/** What a charge was for. Never a prompt, never a secret. */
export interface ChargeDetails {
  readonly operation: string;
  readonly model?: string;
  readonly keyId?: string;
  readonly userId?: string;
  readonly requestId?: string;
}

export interface HoldRequest {
  readonly account: string;
  /** 0 or more. */
  readonly amount: number;
  /**
   * Idempotency: the same key holds once, and answers the same hold again whatever became of it. A refused hold is not
   * remembered. Minted by us, never taken from a caller.
   */
  readonly key: string;
  /** Epoch milliseconds; a hold past it no longer counts, unless it is renewed. */
  readonly expiresAt: number;
  readonly cap?: SpendCap;
  readonly details: ChargeDetails;
}

/** An open reservation. */
export interface Hold {
  readonly id: string;
  readonly account: string;
  readonly amount: number;
  readonly expiresAt: number;
}

export type HoldOutcome =
  | { readonly outcome: 'held'; readonly hold: Hold }
  | { readonly outcome: 'insufficient_credits'; readonly available: number; readonly required: number }
  | {
      readonly outcome: 'spend_cap_exceeded';
      readonly used: number;
      readonly limit: number;
      readonly required: number;
    };

export interface Settlement {
  /** What was charged: the amount of the first settlement, whatever a repeated one asks for. */
  readonly charged: number;
  /** True when this very call did it; false when it had been settled before. */
  readonly first: boolean;
}

/** One line of an account's history. The sum of `amount` over all entries is `Balance.posted`. */
export interface LedgerEntry {
  readonly id: string;
  readonly account: string;
  readonly kind: 'grant' | 'charge';
  /** Positive for a grant, negative for a charge. */
  readonly amount: number;
  readonly key: string;
  readonly reason: string;
  readonly createdAt: number;
}

/** One paid call, from reservation to its end. */
export interface Charge extends ChargeDetails {
  readonly id: string;
  readonly account: string;
  readonly status: 'reserved' | 'settled' | 'released';
  /** Held while reserved, charged once settled, 0 when released. */
  readonly amount: number;
  readonly usage?: Usage;
  readonly createdAt: number;
}

export interface ChargeFilter {
  readonly account?: string;
  readonly keyId?: string;
  readonly userId?: string;
}

/**
 * The money. Under any number of concurrent callers and processes: `available` is never driven below zero by a hold, a
 * hold is settled at most once, and entries always add up to the balance.
 */
export interface CreditLedger {
  balance(account: string, options?: CallOptions): Promise<Balance>;
  /** Atomic: granted only while `available >= amount`, and the cap's charged plus held sum stays within its limit. */
  hold(request: HoldRequest, options?: CallOptions): Promise<HoldOutcome>;
  /** Moves the expiry of an open hold. @returns false when it is no longer open (settled, released or lapsed). */
  renew(hold: Hold, expiresAt: number, options?: CallOptions): Promise<boolean>;
  /**
   * Charges `actual` and ends the hold, once: excess returns, a shortfall is charged in full. A hold that lapsed or was
   * released is still charged, once. Takes no signal: it must finish.
   */
  settle(hold: Hold, actual: number, usage?: Usage): Promise<Settlement>;
  /** Ends the hold without a charge. After a settlement it does nothing. Takes no signal: it must finish. */
  release(hold: Hold): Promise<void>;
  /** Writes down a call that cost nothing (metering off), so that usage is known. The same key is recorded once. */
  record(charge: { account: string; key: string; details: ChargeDetails; usage?: Usage }): Promise<void>;
  /** Adds credit. `amount` may be negative to take it back. The same key grants once per account. @returns false when it had been granted before. */
  grant(
    grant: { account: string; amount: number; key: string; reason: string },
    options?: CallOptions,
  ): Promise<boolean>;
  /** An account's history, newest first. `before` is an entry's id. */
  entries(
    account: string,
    page: { limit: number; before?: string },
    options?: CallOptions,
  ): Promise<readonly LedgerEntry[]>;
  /** Paid calls, newest first. */
  charges(filter: ChargeFilter, limit: number, options?: CallOptions): Promise<readonly Charge[]>;
  /** Sum of settled charges since an instant. */
  spent(filter: ChargeFilter, since: number, options?: CallOptions): Promise<number>;
  /** What counts against a cap now: charged plus held. */
  capUsed(capId: string, options?: CallOptions): Promise<number>;
  /** Releases holds whose expiry has passed. @returns how many. Safe to run anywhere, any time. */
  sweep(options?: CallOptions): Promise<number>;
}
