import type { SubscriptionStatus, SubscriptionTier } from '../organizations/records.ts';
import { defineCollection, type StoredRecord } from '../ports/store.ts';

/** What is paid for again and again, as the host's payments call it. */
export interface SubscriptionPlan {
  readonly name: string;
  /** Of the host's payment provider. */
  readonly priceId: string;
  readonly interval: 'monthly' | 'yearly';
  /** What it unlocks, for clients to act on. */
  readonly entitlements?: readonly string[];
}

/** What a user or an organization has subscribed to: at most one each. The host writes them down as they are paid for. */
export interface SubscriptionRecord extends StoredRecord {
  readonly userId?: string | undefined;
  readonly organizationId?: string | undefined;
  readonly tier: SubscriptionTier;
  readonly status: SubscriptionStatus;
  /** Null: it has no end yet. */
  readonly currentPeriodEnd: number | null;
  /** Told to a user by `/api/v1/me`. */
  readonly plan?: SubscriptionPlan | undefined;
  readonly createdAt: number;
}

export const SUBSCRIPTIONS = defineCollection<SubscriptionRecord>({
  name: 'subscriptions',
  columns: { userId: 'text', organizationId: 'text', createdAt: 'integer' },
  unique: [['userId'], ['organizationId']],
  indexes: [['createdAt']],
});
