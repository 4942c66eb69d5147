import { defineCollection, type StoredRecord } from '../../ports/store.ts';
import type { SubscriptionStatus, SubscriptionTier } from './records.ts';

/** A recurring payment, in the terms of the host's payment provider. */
export interface SubscriptionPlan {
  readonly name: string;
  /** Id at the host's payment provider. */
  readonly priceId: string;
  readonly interval: 'monthly' | 'yearly';
  /** The features it unlocks, for clients. */
  readonly entitlements?: readonly string[];
}

/** The subscription of a user or an organization: at most one each. The host stores it after payment. */
export interface SubscriptionRecord extends StoredRecord {
  readonly userId?: string | undefined;
  readonly organizationId?: string | undefined;
  readonly tier: SubscriptionTier;
  readonly status: SubscriptionStatus;
  /** Null without an end date. */
  readonly currentPeriodEnd: number | null;
  /** Returned to the user by `/api/v1/me`. */
  readonly plan?: SubscriptionPlan | undefined;
  readonly createdAt: number;
}

export const SUBSCRIPTIONS = defineCollection<SubscriptionRecord>({
  name: 'subscriptions',
  columns: { userId: 'text', organizationId: 'text', createdAt: 'integer' },
  unique: [['userId'], ['organizationId']],
  indexes: [['createdAt']],
});
