import { SHARING_COLUMNS, type ShareableRecord } from '../../access/access.ts';
import { defineCollection } from '../../ports/store.ts';

export type SubscriptionTier = 'free' | 'basic' | 'pro' | 'other';
export type SubscriptionStatus = 'trial' | 'active' | 'past_due' | 'cancelled';

/**
 * A group of users that share one credit balance, with the account `organization:<id>`. It uses shares like any other
 * resource: a read share permits charges to it, a write share permits its administration, like the owner.
 */
export interface OrganizationRecord extends ShareableRecord {
  readonly name: string;
  readonly slug: string;
  readonly description: string | null;
  /** The models of work that it pays. Absent or null: all. */
  readonly models?: readonly string[] | null;
  readonly subscriptionTier: SubscriptionTier;
  readonly subscriptionStatus: SubscriptionStatus;
  readonly createdAt: number;
}

export const ORGANIZATIONS = defineCollection<OrganizationRecord>({
  name: 'organizations',
  columns: { ...SHARING_COLUMNS, name: 'text', slug: 'text', createdAt: 'integer' },
  unique: [['slug']],
  indexes: [['ownerId', 'createdAt'], ['createdAt'], ['name']],
  search: ['name'],
});
