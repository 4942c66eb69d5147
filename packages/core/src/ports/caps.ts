/** A spending limit, e.g. for one API key in one month. */
export interface SpendCap {
  /** Identifies the cap and its period: each period has its own id. */
  readonly id: string;
  readonly limit: number;
}

/**
 * What a cap counts. `credits`: micro-credits. `tokens`: the tokens of all classes. `requests`: calls that ended with a
 * charge. `concurrent`: open holds.
 */
export type CapUnit = 'credits' | 'tokens' | 'requests' | 'concurrent';

/** One of several limits that a hold counts against, e.g. a budget in its current window. */
export interface HoldCap {
  /** Identifies the cap and its window. No other cap of the same hold has it. */
  readonly id: string;
  readonly unit: CapUnit;
  /** In units. 0 or more. */
  readonly limit: number;
  /** What this hold reserves, in units. 0 or more. */
  readonly amount: number;
}

/** The state of one cap, in its units. */
export interface CapUsage {
  /** Sum of settled holds. */
  readonly spent: number;
  /** Sum of open holds. */
  readonly reserved: number;
}
