import { defineCollection, type StoredRecord } from '../../ports/store.ts';
import type { WebhookFailure } from '../../ports/webhook-sender.ts';

/** Why a webhook is disabled: by its owner, after 24 hours without success, or by a 410 of the receiver. */
export type DisabledFor = 'owner' | 'failing' | 'gone';

/** An address that receives events of a user or an organization. */
export interface WebhookRecord extends StoredRecord {
  /** `user:<id>` or `organization:<id>`. */
  readonly owner: string;
  readonly organizationId: string | null;
  /** The user who created it, and who receives the notice. */
  readonly createdBy: string;
  readonly url: string;
  readonly description: string;
  readonly types: readonly string[];
  readonly status: 'active' | 'disabled';
  readonly disabledFor?: DisabledFor | undefined;
  readonly disabledAt?: number | undefined;
  /** Encrypted; see `getSecretPlace`. */
  readonly sealedSecret: string;
  /** The secret before the last rotation, which signs too until `previousUntil`. */
  readonly previousSecret?: string | undefined;
  readonly previousUntil?: number | undefined;
  readonly lastSuccessAt?: number;
  readonly createdAt: number;
}

export const WEBHOOKS = defineCollection<WebhookRecord>({
  name: 'webhooks',
  secretFields: { sealedSecret: true, previousSecret: true },
  columns: { owner: 'text', status: 'text', createdAt: 'integer' },
  unique: [],
  indexes: [['owner', 'createdAt'], ['status']],
});

/** One event for one webhook. Its id is a hash of both, so that none is written twice. */
export interface WebhookDeliveryRecord extends StoredRecord {
  readonly webhookId: string;
  /** The `webhook-id` of all attempts. */
  readonly eventId: string;
  readonly type: string;
  readonly payload: string;
  readonly status: 'pending' | 'delivered' | 'failed';
  readonly attempts: number;
  /** Failed attempts since it was created or replayed. */
  readonly failures: number;
  /** Time since which it is tried: that of the event or of the replay. */
  readonly since: number;
  readonly nextAttemptAt?: number | undefined;
  /** HTTP status of the last attempt. */
  readonly lastStatus?: number | undefined;
  readonly lastFailure?: WebhookFailure | undefined;
  readonly createdAt: number;
}

export const WEBHOOK_DELIVERIES = defineCollection<WebhookDeliveryRecord>({
  name: 'webhook_deliveries',
  columns: { webhookId: 'text', status: 'text', createdAt: 'integer' },
  unique: [],
  indexes: [['webhookId', 'createdAt'], ['createdAt']],
});
