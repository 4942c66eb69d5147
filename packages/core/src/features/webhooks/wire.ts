import type { WireDelivery, WireWebhook } from './contract.ts';
import type { WebhookDeliveryRecord, WebhookRecord } from './records.ts';

export function toWireWebhook(webhook: WebhookRecord, now: number): WireWebhook {
  const { id, url, description, types, organizationId, status } = webhook;
  const { disabledFor = null, lastSuccessAt, previousUntil = 0, createdAt } = webhook;
  return {
    id,
    url,
    description,
    types: [...types],
    organizationId,
    status,
    disabledFor,
    lastSuccessAt: toTime(lastSuccessAt),
    previousSecretUntil: previousUntil > now ? toTime(previousUntil) : null,
    createdAt: new Date(createdAt).toISOString(),
  };
}

export function toWireDelivery(delivery: WebhookDeliveryRecord): WireDelivery {
  const { id, eventId, type, payload, status, attempts, createdAt } = delivery;
  const { lastStatus = null, lastFailure = null, nextAttemptAt } = delivery;
  return {
    id,
    eventId,
    type,
    payload: JSON.parse(payload) as Record<string, unknown>,
    status,
    attempts,
    lastStatus,
    lastFailure,
    nextAttemptAt: toTime(nextAttemptAt),
    createdAt: new Date(createdAt).toISOString(),
  };
}

function toTime(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString();
}
