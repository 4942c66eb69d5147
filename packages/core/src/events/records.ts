import type { ChargeDetails, Hold, Usage } from '../ports/ledger.ts';
import { defineCollection, type StoredRecord } from '../ports/store.ts';
import type { HostEvent } from './event.ts';

/** A charge whose settlement is intended. Repeating it is idempotent. */
export interface ChargeIntent {
  readonly key: string;
  readonly account: string;
  readonly details: ChargeDetails;
  readonly usage: Usage;
  /** Absent: usage is recorded without a charge. */
  readonly settlement?: { readonly hold: Hold; readonly amount: number };
}

/** An event until it is delivered. Its id is the event's, without `evt_`. */
export interface OutboxRecord extends StoredRecord {
  /** Absent: the charge is not settled yet; see `charge`. */
  readonly event?: HostEvent;
  readonly charge?: ChargeIntent | undefined;
  /** The webhook deliveries are written. */
  readonly isFannedOut?: true;
  /** Failed deliveries to the host. */
  readonly failures?: number;
  /** Time of the first failed delivery. */
  readonly failingSince?: number;
  /** Time of the next delivery to the host. Absent: none has failed. */
  readonly retryAt?: number;
  /** The time at which it was given up. It is not delivered any more. */
  readonly failedAt?: number;
  /** Time at which the sweep looks at the record, if it still exists. Epoch milliseconds. */
  readonly checkAt: number;
  readonly createdAt: number;
}

export const EVENT_OUTBOX = defineCollection<OutboxRecord>({
  name: 'event_outbox',
  columns: { checkAt: 'integer' },
  unique: [],
  indexes: [['checkAt']],
});

/** An account with low credit that was reported. Its id is a hash of the account. */
export interface LowCreditRecord extends StoredRecord {
  readonly account: string;
}

export const LOW_CREDITS = defineCollection<LowCreditRecord>({
  name: 'low_credits',
  columns: {},
  unique: [],
  indexes: [],
});

/** What was last reported of a budget. Its id is that of the budget. */
export interface BudgetNoticeRecord extends StoredRecord {
  /** `<start of the window>:<amount>:<threshold>`. */
  readonly reported: string;
}

export const BUDGET_NOTICES = defineCollection<BudgetNoticeRecord>({
  name: 'budget_notices',
  columns: { reported: 'text' },
  unique: [],
  indexes: [],
});
