import { defineCollection } from '../ports/store.ts';
import { SHARING_COLUMNS, type ShareableRecord } from '../sharing/access.ts';

export type SubscriptionTier = 'free' | 'basic' | 'pro' | 'other';
export type SubscriptionStatus = 'trial' | 'active' | 'past_due' | 'cancelled';

/**
 * People with one purse, whose account is `organization:<id>`. It is shared with its members as anything else is: to read
 * with those who may have it pay, to write with those who administer it beside the owner.
 */
export interface OrganizationRecord extends ShareableRecord {
  readonly name: string;
  readonly slug: string;
  readonly description: string | null;
  readonly subscriptionTier: SubscriptionTier;
  readonly subscriptionStatus: SubscriptionStatus;
  readonly createdAt: number;
}

export const ORGANIZATIONS = defineCollection<OrganizationRecord>({
  name: 'organizations',
  columns: { ...SHARING_COLUMNS, name: 'text', slug: 'text', createdAt: 'integer' },
  unique: [['slug']],
  indexes: [['ownerId', 'createdAt'], ['createdAt'], ['name']],
});
