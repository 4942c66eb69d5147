import type { DeletionHooks } from '../../operations/deletion.ts';
import type { ExamplesFile, ServicesFor } from '../../operations/feature-parts.ts';
import { webhookAudit } from './audit.ts';
import { createWebhookFanOut } from './fan-out.ts';
import { type WebhooksServices, webhookRoutes } from './handlers.ts';
import { personalWebhooks } from './personal.ts';
import { WEBHOOK_DELIVERIES, WEBHOOKS } from './records.ts';
import { deliveryRetention } from './retention.ts';
import { createSendHandler, type SendServices } from './send.ts';

/** Absent: the host cannot call webhooks, and the operations are not part of the API. */
type Optional<S extends Pick<WebhooksServices, 'webhookSender'>> = Omit<
  S,
  'webhookSender' | 'webhookReceivers'
> &
  Partial<Pick<WebhooksServices, 'webhookSender' | 'webhookReceivers'>>;

const deletion: DeletionHooks = {
  async organization({ store }, id) {
    const webhooks = store.collection(WEBHOOKS);
    for (const webhook of await webhooks.find({ owner: `organization:${id}` })) {
      await webhooks.take(webhook.id);
    }
  },
};

export const webhooks = {
  name: 'webhooks',
  auditSources: [webhookAudit],
  examples: (): Promise<ExamplesFile> => import('./examples.json', { with: { type: 'json' } }),
  collections: [WEBHOOKS, WEBHOOK_DELIVERIES],
  deletion,
  personal: (services: ServicesFor<typeof personalWebhooks>) => personalWebhooks(services),
  routes: (services: Optional<WebhooksServices>) => {
    const { webhookSender, webhookReceivers } = services;
    if (webhookSender === undefined || webhookReceivers === undefined) return [];
    return webhookRoutes({ ...services, webhookSender, webhookReceivers });
  },
  jobs: (services: Optional<SendServices>) => {
    const { webhookSender } = services;
    return webhookSender === undefined ? [] : [createSendHandler({ ...services, webhookSender })];
  },
  retention: (services: ServicesFor<typeof deliveryRetention>) => deliveryRetention(services),
  eventListeners: (services: ServicesFor<typeof createWebhookFanOut> & Optional<SendServices>) =>
    services.webhookSender === undefined ? [] : [createWebhookFanOut(services)],
};
