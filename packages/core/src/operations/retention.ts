import type { Store } from '../ports/store.ts';

/** Kinds of records that can be deleted by age, and of which the newest can be kept. */
export const RETENTION_KINDS = [
  'sessions',
  'messages',
  'quests',
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
  /** Messages, by their creation. The last turn of each session stays. */
  readonly messages?: number;
  /** Turns, images and agent runs that have ended, by their end. Their messages and files stay. */
  readonly quests?: number;
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

/** The largest number of newest records. */
export const MAX_NEWEST = 10_000;

/**
 * Numbers of newest records to keep, 1 to 10,000; older ones are deleted, one day after their age begins at the earliest.
 * Absent: any number is kept.
 */
export interface NewestSettings {
  /** Sessions of each owner. */
  readonly sessions?: number;
  /** Messages of each session, and the rest of the oldest turn among them. */
  readonly messages?: number;
  /** Turns, images and agent runs of each session that have ended. */
  readonly quests?: number;
  /** Files of each owner. */
  readonly files?: number;
  /** Video and music jobs of each owner that have ended. */
  readonly generations?: number;
  /** Stored responses of each owner. */
  readonly responses?: number;
  /** Deliveries of each webhook. */
  readonly deliveries?: number;
  /** Client events of each user. */
  readonly analytics?: number;
}

/**
 * Finds those of some records that are in use. @param store the store, or a transaction. @param since epoch milliseconds: uses
 * from before this time need not be found again.
 */
export type FindInUse = (store: Store, ids: readonly string[], since?: number) => Promise<readonly string[]>;

/** Which records of other features one feature uses. */
export type InUse = { readonly [K in RetentionKind]?: FindInUse };

/** The condition of a deletion, checked again in its transaction. */
export interface RemovalCheck {
  /** The record is from before this time, in epoch milliseconds. */
  readonly before: number;
  isInUse(store: Store): Promise<boolean>;
}

/** Deletes one record as its owner would. Safe to repeat. @returns false if it is gone, younger or in use. */
export type RemoveChecked = (id: string, check: RemovalCheck) => Promise<boolean>;

/** Deletes records that are not in use. */
export interface Remover {
  count(ids: readonly string[]): Promise<number>;
  /** @returns the number of deleted records. Reports those that fail. */
  removeEach(ids: readonly string[], before: number, remove: RemoveChecked): Promise<number>;
}

/** A record in the order of its time, epoch milliseconds. */
export interface AgedRecord {
  readonly id: string;
  readonly time: number;
}

/** What a rule deletes. Times are epoch milliseconds. */
export interface RetentionBounds {
  /** Records from before this time. */
  readonly before?: number;
  /** Records beyond the newest ones that are from before the time. */
  readonly surplus?: { readonly newest: number; readonly before: number };
}

/** Deletes records of all owners by age. */
export type AgeRetention =
  | {
      /** Lists records from before a time, oldest first. @param after the last record of the page before. */
      readonly find: (
        before: number,
        limit: number,
        after: AgedRecord | undefined,
      ) => Promise<readonly AgedRecord[]>;
      readonly remove: RemoveChecked;
    }
  | {
      readonly count: (before: number) => Promise<number>;
      /** Deletes up to `limit` records from before a time. @returns their number. */
      readonly removeBefore: (before: number, limit: number) => Promise<number>;
    };

/** Ids of groups, such as sessions. */
export interface GroupPage {
  readonly groups: readonly string[];
  /** The position to continue after. Absent: there are no more. */
  readonly next?: string;
}

/** Deletes records of one group at a time, such as the messages of one session. */
export interface GroupRetention {
  /** In the order of the ids. @param after the position of the last page. */
  list(after: string | undefined, limit: number): Promise<GroupPage>;
  count(group: string, bounds: RetentionBounds, remover: Remover): Promise<number>;
  /** Deletes up to `limit` records. @returns their number; fewer than `limit` only if no other can be deleted now. */
  trim(group: string, bounds: RetentionBounds, limit: number, remover: Remover): Promise<number>;
}

/** How a feature deletes its records. */
export interface RetentionRule {
  readonly kind: RetentionKind;
  /** Days without a setting. Absent: records are kept. */
  readonly defaultDays?: number;
  /** Absent: `byGroup` deletes by age, too. */
  readonly byAge?: AgeRetention;
  readonly byGroup: GroupRetention;
}
