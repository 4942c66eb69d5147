import type { CapUsage, HoldCap, SpendCap } from './caps.ts';
import type { CallOptions } from './options.ts';
import type { EngineWrite } from './write-all.ts';

/*
 * All amounts are safe integers in micro-credits (1 credit = 1,000,000), never fractions. An account is `user:<id>`
 * or `organization:<id>`.
 */

/** The balance of an account, in micro-credits. */
export interface Balance {
  /** Total grants minus total charges. Negative only after a settlement above the held amount. */
  readonly posted: number;
  /** Sum of open holds. */
  readonly held: number;
  /** `posted - held`: the maximum amount of a new hold. */
  readonly available: number;
}

/** Tokens by class, and other units of paid work. Classes do not overlap: a token counts in one class only. */
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

/** The reason of a charge. Contains no prompts and no secrets. */
export interface ChargeDetails {
  readonly operation: string;
  readonly model?: string;
  readonly keyId?: string;
  readonly userId?: string;
  readonly requestId?: string;
}

/** A reservation to make. */
export interface HoldRequest {
  readonly account: string;
  /** 0 or more. */
  readonly amount: number;
  /**
   * Idempotency key: the same key creates one hold, and later calls return that hold in any state. A rejected hold is
   * not stored. Created by the service, never taken from a client.
   */
  readonly key: string;
  /** Epoch milliseconds. After this time the hold no longer counts, unless it is renewed. */
  readonly expiresAt: number;
  readonly cap?: SpendCap;
  /**
   * Further caps. All of them are checked and counted in one step with the balance and `cap`: a refused hold counts
   * against none. Each counts its `amount` while the hold is open; a release or an expiry returns it. A settlement
   * replaces it: credits by the charged amount, tokens by those of the usage (without usage: the reserved ones),
   * requests stay, concurrent becomes 0.
   */
  readonly caps?: readonly HoldCap[];
  /** True: the balance does not matter, because nothing will be charged. `amount` is 0. */
  readonly ignoresBalance?: true;
  readonly details: ChargeDetails;
}

/** A reservation of credit. */
export interface Hold {
  readonly id: string;
  readonly account: string;
  readonly amount: number;
  readonly expiresAt: number;
  /** Added by the service: the caps whose sums change with the settlement. Ledgers do not read it. */
  readonly capIds?: readonly string[];
}

/** The result of a reservation: the hold, or the reason why it was refused, in micro-credits. */
export type HoldOutcome =
  | { readonly outcome: 'held'; readonly hold: Hold }
  | { readonly outcome: 'insufficient_credits'; readonly available: number; readonly required: number }
  | {
      readonly outcome: 'spend_cap_exceeded';
      readonly used: number;
      readonly limit: number;
      readonly required: number;
    }
  | (CapUsage & {
      readonly outcome: 'cap_exceeded';
      /** The first of `caps` that has no room. */
      readonly capId: string;
      readonly limit: number;
      readonly required: number;
    });

/** The result of a settlement. */
export interface Settlement {
  /** The charged amount: that of the first settlement, even if a repeated call asks for another amount. */
  readonly charged: number;
  /** True if this call settled the hold; false if it was already settled. */
  readonly first: boolean;
}

/** One entry of an account's history. The sum of `amount` over all entries is `Balance.posted`. */
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

/** One paid call, from reservation to settlement or release. */
export interface Charge extends ChargeDetails {
  readonly id: string;
  readonly account: string;
  readonly status: 'reserved' | 'settled' | 'released';
  /** The held amount while reserved, the charged amount once settled, 0 when released. */
  readonly amount: number;
  readonly usage?: Usage;
  readonly createdAt: number;
}

/** A charge as the archive of the host gets it. */
export interface ArchivedCharge extends Charge {
  readonly kind: 'hold' | 'record';
  /** The idempotency key. */
  readonly key: string;
  /** Epoch milliseconds. Absent: released. */
  readonly settledAt?: number;
}

/** Receives charges in the order of the calls. A rejection keeps them in the ledger. */
export type PassToArchive = (charges: readonly ArchivedCharge[]) => Promise<void>;

/** A movement of credit with its cause, for exports. Its `id` is unique in the export. */
export interface ExportedEntry extends LedgerEntry {
  /** Its place in the export: above that of every entry that could be read before. 1 or more. */
  readonly position: number;
  /** The cause of a charge. May be absent for an archived one. */
  readonly details?: ChargeDetails;
  readonly usage?: Usage;
}

/** Selects charges: every given field must match. */
export interface ChargeFilter {
  readonly account?: string;
  readonly keyId?: string;
  readonly userId?: string;
}

/** What the sums of a report are grouped by. `day`: the day of the call in UTC. */
export type UsageDimension = 'day' | 'model' | 'operation' | 'key' | 'user' | 'organization';

/** Selects settled charges by the time of the call: from `from` until before `to`, in epoch milliseconds. */
export interface UsageQuery {
  readonly filter: ChargeFilter;
  readonly from: number;
  readonly to: number;
  /** Each at most once. */
  readonly groupBy: readonly UsageDimension[];
  /** Maximum number of groups. */
  readonly limit: number;
}

/** The settled charges of one group. */
export interface UsageSum {
  /**
   * Its values: ids, and for `day` the start of the day in epoch milliseconds. Null: charges without a model, key, user
   * or organization.
   */
  readonly group: Readonly<Partial<Record<UsageDimension, string | number | null>>>;
  readonly requests: number;
  /** The charged micro-credits. */
  readonly amount: number;
  readonly usage: Usage;
}

/**
 * Stores credit balances and their history. With any number of concurrent callers and processes: a hold never makes
 * `available` negative, a hold is settled at most once, and the entries always add up to the balance.
 */
export interface CreditLedger {
  balance(account: string, options?: CallOptions): Promise<Balance>;
  /**
   * Reserves credit atomically: succeeds only if `available >= amount` and the cap's charged plus held sum stays
   * within its limit, and the same for each of `caps`.
   * @throws RangeError for caps with equal ids, or an amount that is not a whole number of 0 or more.
   */
  hold(request: HoldRequest, options?: CallOptions): Promise<HoldOutcome>;
  /** Changes the expiry of an open hold. @returns false if it is no longer open (settled, released or expired). */
  renew(hold: Hold, expiresAt: number, options?: CallOptions): Promise<boolean>;
  /**
   * Changes the expiry of those of the holds that are open, in one step, and leaves the others unchanged. Optional: without
   * it, holds have longer leases, and those of a process that ends without a shutdown count for up to 15 minutes.
   * @returns the number of renewed holds.
   */
  renewAll?(holds: readonly Hold[], expiresAt: number, options?: CallOptions): Promise<number>;
  /**
   * Charges `actual` and closes the hold, exactly once: an excess is returned, a shortfall is charged in full. An
   * expired or released hold is still charged, once. Takes no signal, because it must complete.
   * @param details those of the hold, for ledgers that pass charges on; others need not read them.
   */
  settle(hold: Hold, actual: number, usage?: Usage, details?: ChargeDetails): Promise<Settlement>;
  /**
   * Builds a settlement for `writeAll` of a store on the same engine, which has no effect if the hold is settled already or
   * unknown. @returns undefined if it must be settled by `settle`.
   */
  toSettlement?(hold: Hold, actual: number, usage?: Usage, details?: ChargeDetails): EngineWrite | undefined;
  /** Closes the hold without a charge. Does nothing after a settlement. Takes no signal, because it must complete. */
  release(hold: Hold): Promise<void>;
  /** Records the usage of a call without a charge (while credits are not enforced). The same key is recorded once. */
  record(charge: { account: string; key: string; details: ChargeDetails; usage?: Usage }): Promise<void>;
  /**
   * Adds credit; a negative `amount` removes credit. Idempotent: the same key grants once per account. @returns false
   * if the key was already granted.
   * @throws RangeError for an account that is not `user:<id>` or `organization:<id>`, whose credit could never be spent.
   */
  grant(
    grant: { account: string; amount: number; key: string; reason: string },
    options?: CallOptions,
  ): Promise<boolean>;
  /** Returns the account's history, newest first. `before` is an entry id. */
  entries(
    account: string,
    page: { limit: number; before?: string },
    options?: CallOptions,
  ): Promise<readonly LedgerEntry[]>;
  /** Returns paid calls, newest first, without archived ones. */
  charges(filter: ChargeFilter, limit: number, options?: CallOptions): Promise<readonly Charge[]>;
  /**
   * Returns the sum of settled charges since `since` (epoch milliseconds). Archived ones count at the begin of their hour.
   */
  spent(filter: ChargeFilter, since: number, options?: CallOptions): Promise<number>;
  /**
   * Adds up settled charges, for reports, in the order of the groups. Archived ones count at the begin of their hour.
   * Optional: without it, usage reports are not part of the API.
   */
  sumCharges?(query: UsageQuery, options?: CallOptions): Promise<readonly UsageSum[]>;
  /**
   * Returns the entries of one account, or of all, in the order of their positions. A reader that passes the last position as
   * `after` gets every entry exactly once, also those that concurrent calls in other processes add meanwhile. A page below
   * `limit` has every entry that was added before the call. Optional: without it, exports are not part of the API.
   */
  exportEntries?(
    page: { readonly account?: string; readonly after: number; readonly limit: number },
    options?: CallOptions,
  ): Promise<readonly ExportedEntry[]>;
  /**
   * Returns the state of each cap of `caps`, in the given order. Optional: a ledger without it ignores `caps`, and budgets
   * are not part of the API.
   */
  capUsage?(capIds: readonly string[], options?: CallOptions): Promise<readonly CapUsage[]>;
  /** Returns the used amount of a `cap`: charged plus held. */
  capUsed(capId: string, options?: CallOptions): Promise<number>;
  /**
   * Moves the oldest settled and released charges out of the ledger: passes up to `limit` (1 to 1,000) from before `before`
   * (epoch milliseconds) to `archive`, then keeps only their sums per hour and their keys. Balances, caps, entries and the
   * sums of whole hours stay the same, and each key still charges once: a repeated `hold`, `record` or `settle` has the effect
   * that it would have without the archive. The late settlement of a released hold brings its charge back. A call that
   * breaks off may pass the same charges again, with the same ids. Optional: without it, charges are kept.
   * @returns the number of moved charges; fewer than `limit` if no other can be moved now.
   */
  archiveCharges?(
    page: { readonly before: number; readonly limit: number },
    archive: PassToArchive,
    options?: CallOptions,
  ): Promise<number>;
  /** Returns the number of charges that `archiveCharges` would move now. Optional, like `archiveCharges`. */
  countArchivable?(before: number, options?: CallOptions): Promise<number>;
  /** Releases expired holds. @returns their number. Safe to run in any process at any time. */
  sweep(options?: CallOptions): Promise<number>;
}
