import { hash } from 'node:crypto';
import type { EventListener } from '../../events/event.ts';
import type { Clock } from '../../ports/clock.ts';
import type { JobQueue, NewJob } from '../../ports/queue.ts';
import type { Store } from '../../ports/store.ts';
import { WEBHOOK_DELIVERIES, WEBHOOKS, type WebhookDeliveryRecord } from './records.ts';
import { isWebhookType, toPayload } from './types.ts';

/** The job kind of one delivery. */
export const SEND_WEBHOOK = 'send-webhook';

/** Each webhook has its own turn in the queue, so that a slow receiver delays no other. */
export function sendJob({ id, webhookId }: Pick<WebhookDeliveryRecord, 'id' | 'webhookId'>): NewJob {
  return { kind: SEND_WEBHOOK, key: `webhook:${id}`, owner: webhookId, payload: { id } };
}

export function newDelivery(
  delivery: Pick<WebhookDeliveryRecord, 'webhookId' | 'eventId' | 'type' | 'payload'>,
  now: number,
): WebhookDeliveryRecord {
  const id = hash('sha256', `${delivery.eventId} ${delivery.webhookId}`, 'hex').slice(0, 24);
  return { id, ...delivery, status: 'pending', attempts: 0, failures: 0, since: now, createdAt: now };
}

/** Writes a delivery for each webhook of the user and the organization of an event. Idempotent. */
export function createWebhookFanOut(services: {
  readonly store: Store;
  readonly queue: JobQueue;
  readonly clock: Clock;
}): EventListener {
  const { queue, clock } = services;
  const webhooks = services.store.collection(WEBHOOKS);
  const deliveries = services.store.collection(WEBHOOK_DELIVERIES);
  return async (event) => {
    const { type, data } = event;
    if (!isWebhookType(type)) return;
    const owners = [
      ...(data.userId === undefined ? [] : [`user:${data.userId}`]),
      ...(data.organizationId === undefined ? [] : [`organization:${data.organizationId}`]),
    ];
    for (const { id, types } of await webhooks.find({ owner: { in: owners }, status: 'active' })) {
      if (!types.includes(type)) continue;
      const delivery = newDelivery(
        { webhookId: id, eventId: event.id, type, payload: toPayload(event) },
        clock.now(),
      );
      const isNew = await deliveries.insert(delivery);
      // A repeated event: the first time may have crashed before `enqueue`.
      const known = isNew ? delivery : await deliveries.get(delivery.id);
      if (known?.status === 'pending') await queue.enqueue(sendJob(delivery));
    }
  };
}
