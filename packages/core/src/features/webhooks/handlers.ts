import type { Caller } from '../../contract/call.ts';
import type { SecretBox } from '../../models/secret-box.ts';
import { actingFor } from '../../operations/audit.ts';
import { findNumberedPage } from '../../operations/find-page.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { JobQueue } from '../../ports/queue.ts';
import type { Store } from '../../ports/store.ts';
import type { WebhookSender } from '../../ports/webhook-sender.ts';
import { ApiError, conflict, invalid, notFound } from '../../shared/errors.ts';
import { type AdministrationCheck, createAdministrationCheck } from '../organizations/membership.ts';
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhookDeliveries,
  listWebhooks,
  replayWebhookDelivery,
  rotateWebhookSecret,
  testWebhook,
  updateWebhook,
} from './contract.ts';
import { newDelivery, sendJob } from './fan-out.ts';
import type { WebhookReceivers } from './receivers.ts';
import { WEBHOOK_DELIVERIES, WEBHOOKS, type WebhookRecord } from './records.ts';
import { replayDelivery } from './replay.ts';
import { createWebhookSecret, getSecretPlace } from './signature.ts';
import { TEST_TYPE, WEBHOOK_TYPES } from './types.ts';
import { toWireDelivery, toWireWebhook } from './wire.ts';

const MAX_WEBHOOKS = 10;
/** The previous secret signs for this time after a rotation. */
const ROTATION_MS = 24 * 3_600_000;

export interface WebhooksServices extends PipelineServices {
  readonly store: Store;
  readonly queue: JobQueue;
  readonly textBox: SecretBox;
  readonly administers: AdministrationCheck;
  readonly webhookSender: WebhookSender;
  readonly webhookReceivers: WebhookReceivers;
}

export function webhookRoutes(services: WebhooksServices): Route[] {
  return [
    createListWebhooksHandler(services),
    createCreateWebhookHandler(services),
    createGetWebhookHandler(services),
    createUpdateWebhookHandler(services),
    createDeleteWebhookHandler(services),
    createRotateWebhookSecretHandler(services),
    createTestWebhookHandler(services),
    createListWebhookDeliveriesHandler(services),
    createReplayWebhookDeliveryHandler(services),
  ];
}

/** @throws ApiError 404 for an organization that the caller does not administer. */
async function getOwner(
  { administers }: Pick<WebhooksServices, 'administers'>,
  { userId }: Caller,
  organizationId: string | undefined,
): Promise<string> {
  if (organizationId === undefined) return `user:${userId}`;
  if (!(await administers(userId, organizationId))) throw notFound('Organization');
  return `organization:${organizationId}`;
}

/** @throws ApiError 404 for a webhook that the caller may not change. */
async function findWebhook(
  services: WebhooksServices,
  { userId }: Caller,
  id: string,
): Promise<WebhookRecord> {
  const webhook = await services.store.collection(WEBHOOKS).get(id);
  if (webhook === undefined) throw notFound('Webhook');
  const { organizationId, owner } = webhook;
  const isMine =
    organizationId === null ? owner === `user:${userId}` : await services.administers(userId, organizationId);
  if (!isMine) throw notFound('Webhook');
  return webhook;
}

async function requireAllowed({ webhookSender }: WebhooksServices, url: string): Promise<void> {
  if (!(await webhookSender.isAllowed(url))) throw invalid('url', 'expected a public address');
}

/** `GET /api/webhooks` */
function createListWebhooksHandler(services: WebhooksServices): Route {
  const webhooks = services.store.collection(WEBHOOKS);
  return defineRoute(listWebhooks, services, async ({ query }, { caller }) => {
    const owner = await getOwner(services, caller, query.organizationId);
    const order = { field: 'createdAt', direction: query.order ?? 'desc' } as const;
    const { rows, pagination } = await findNumberedPage(webhooks, { owner }, query, order);
    const now = services.clock.now();
    return { webhooks: rows.map((row) => toWireWebhook(row, now)), pagination };
  });
}

/** `POST /api/webhooks` */
function createCreateWebhookHandler(services: WebhooksServices): Route {
  const { clock, ids, textBox } = services;
  return defineRoute(createWebhook, services, async ({ body }, call) => {
    const { caller } = call;
    const { url, types = WEBHOOK_TYPES, description, organizationId } = body;
    await requireAllowed(services, url);
    const owner = await getOwner(services, caller, organizationId);
    const id = ids.next();
    const secret = createWebhookSecret(ids);
    const webhook: WebhookRecord = {
      id,
      owner,
      organizationId: organizationId ?? null,
      createdBy: caller.userId,
      url,
      description,
      types,
      status: 'active',
      sealedSecret: textBox.seal(secret, getSecretPlace(id)),
      createdAt: clock.now(),
    };
    // Counting and inserting share one transaction, so parallel requests cannot exceed the maximum. So does the right, which may
    // end concurrently.
    await actingFor(services, call).store.transaction(async (inner) => {
      await getOwner({ administers: createAdministrationCheck(inner) }, caller, organizationId);
      const webhooks = inner.collection(WEBHOOKS);
      if ((await webhooks.count({ owner })) >= MAX_WEBHOOKS) {
        throw tooManyWebhooks();
      }
      await webhooks.insert(webhook);
    });
    services.webhookReceivers.forget();
    return { ...toWireWebhook(webhook, clock.now()), secret };
  });
}

/** `GET /api/webhooks/{id}` */
function createGetWebhookHandler(services: WebhooksServices): Route {
  return defineRoute(getWebhook, services, async ({ params }, { caller }) =>
    toWireWebhook(await findWebhook(services, caller, params.id), services.clock.now()),
  );
}

/** `PATCH /api/webhooks/{id}` */
function createUpdateWebhookHandler(services: WebhooksServices): Route {
  const { clock } = services;
  return defineRoute(updateWebhook, services, async ({ params, body }, call) => {
    const { caller } = call;
    const { url, types, description, status } = body;
    const { id } = await findWebhook(services, caller, params.id);
    if (url !== undefined) await requireAllowed(services, url);
    const updated = await actingFor(services, call)
      .store.collection(WEBHOOKS)
      .update(id, {
        ...(url !== undefined && { url }),
        ...(types !== undefined && { types }),
        ...(description !== undefined && { description }),
        ...(status === 'active' && { status, disabledFor: undefined, disabledAt: undefined }),
        ...(status === 'disabled' && { status, disabledFor: 'owner', disabledAt: clock.now() }),
      });
    if (updated === undefined) throw notFound('Webhook');
    services.webhookReceivers.forget();
    return toWireWebhook(updated, clock.now());
  });
}

/** `DELETE /api/webhooks/{id}` */
function createDeleteWebhookHandler(services: WebhooksServices): Route {
  return defineRoute(deleteWebhook, services, async ({ params }, call) => {
    const { id } = await findWebhook(services, call.caller, params.id);
    await actingFor(services, call).store.collection(WEBHOOKS).take(id);
  });
}

/** `POST /api/webhooks/{id}/rotate-secret` */
function createRotateWebhookSecretHandler(services: WebhooksServices): Route {
  const { clock, ids, textBox } = services;
  return defineRoute(rotateWebhookSecret, services, async ({ params }, call) => {
    const { id } = await findWebhook(services, call.caller, params.id);
    const secret = createWebhookSecret(ids);
    const rotated = await actingFor(services, call).store.transaction(async (inner) => {
      const webhooks = inner.collection(WEBHOOKS);
      const before = await webhooks.get(id);
      if (before === undefined) throw notFound('Webhook');
      return webhooks.update(id, {
        sealedSecret: textBox.seal(secret, getSecretPlace(id)),
        previousSecret: before.sealedSecret,
        previousUntil: clock.now() + ROTATION_MS,
      });
    });
    if (rotated === undefined) throw notFound('Webhook');
    return { ...toWireWebhook(rotated, clock.now()), secret };
  });
}

/** `POST /api/webhooks/{id}/test` */
function createTestWebhookHandler(services: WebhooksServices): Route {
  const { store, clock, ids, queue } = services;
  return defineRoute(testWebhook, services, async ({ params }, { caller }) => {
    const { id, status } = await findWebhook(services, caller, params.id);
    if (status !== 'active') throw conflict('The webhook is disabled');
    const createdAt = clock.now();
    const timestamp = new Date(createdAt).toISOString();
    const payload = JSON.stringify({ type: TEST_TYPE, timestamp, data: { id } });
    const delivery = newDelivery(
      { webhookId: id, eventId: `evt_${ids.next()}`, type: TEST_TYPE, payload },
      createdAt,
    );
    await store.collection(WEBHOOK_DELIVERIES).insert(delivery);
    await queue.enqueue(sendJob(delivery));
    return toWireDelivery(delivery);
  });
}

/** `GET /api/webhooks/{id}/deliveries` */
function createListWebhookDeliveriesHandler(services: WebhooksServices): Route {
  const deliveries = services.store.collection(WEBHOOK_DELIVERIES);
  return defineRoute(listWebhookDeliveries, services, async ({ params, query }, { caller }) => {
    const { id } = await findWebhook(services, caller, params.id);
    const filter = { webhookId: id, ...(query.status !== undefined && { status: query.status }) };
    const order = { field: 'createdAt', direction: query.order ?? 'desc' } as const;
    const { rows, pagination } = await findNumberedPage(deliveries, filter, query, order);
    return { deliveries: rows.map(toWireDelivery), pagination };
  });
}

/** `POST /api/webhooks/{id}/deliveries/{deliveryId}/replay` */
function createReplayWebhookDeliveryHandler(services: WebhooksServices): Route {
  const deliveries = services.store.collection(WEBHOOK_DELIVERIES);
  return defineRoute(replayWebhookDelivery, services, async ({ params }, { caller }) => {
    const { id, status } = await findWebhook(services, caller, params.id);
    const delivery = await deliveries.get(params.deliveryId, { webhookId: id });
    if (delivery === undefined) throw notFound('Delivery');
    if (status !== 'active') throw conflict('The webhook is disabled');
    const replayed = await replayDelivery(services, delivery.id);
    if (replayed === undefined) throw conflict('The delivery is pending');
    return toWireDelivery(replayed);
  });
}

function tooManyWebhooks(): ApiError {
  return new ApiError(400, `You have the maximum of ${MAX_WEBHOOKS} webhooks; delete one first`, {
    applicationCode: 'WEBHOOK_CAP',
  });
}
