/** Kinds of records that can be deleted by age. */
export const RETENTION_KINDS = [
  'sessions',
  'files',
  'generations',
  'responses',
  'deliveries',
  'analytics',
] as const;

export type RetentionKind = (typeof RETENTION_KINDS)[number];

/** Days after which records are deleted, 1 to 36,500. Absent: they are kept; responses for 30 days, webhook deliveries for 7. */
export interface RetentionSettings {
  /** Conversations, by their last change, with messages and turns, as if their owner deleted them. */
  readonly sessions?: number;
  /** Files, by their creation, with their bytes and their entries in projects and data lakes. */
  readonly files?: number;
  /** Video and music jobs that have ended, by their creation. Their files stay. */
  readonly generations?: number;
  /** Stored responses of the OpenAI API, by their creation. */
  readonly responses?: number;
  /** Webhook deliveries, by the time of the event. */
  readonly deliveries?: number;
  /** Client events. */
  readonly analytics?: number;
}

/** How a feature deletes its records by age. */
export type RetentionRule = {
  readonly kind: RetentionKind;
  /** Days without a setting. Absent: records are kept. */
  readonly defaultDays?: number;
} & (
  | {
      /** Lists the oldest records from before a time, epoch milliseconds. */
      readonly find: (before: number, limit: number) => Promise<readonly { readonly id: string }[]>;
      /** Deletes one, as its owner would. Safe to repeat. */
      readonly remove: (id: string) => Promise<unknown>;
    }
  | {
      /** Deletes up to `limit` records from before a time. @returns their number. */
      readonly removeBefore: (before: number, limit: number) => Promise<number>;
    }
);
