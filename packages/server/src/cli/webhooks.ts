import { type Services, USERS } from '@questline/core';
import {
  ORGANIZATIONS,
  replayDelivery,
  WEBHOOK_DELIVERIES,
  WEBHOOKS,
  type WebhookDeliveryRecord,
  type WebhookRecord,
} from '@questline/core/internal';
import { CliError } from '../cli-error.ts';
import { HELP, type Option } from './arguments.ts';
import type { Command } from './command.ts';
import { columns, JSON_OUTPUT, moment, show } from './output.ts';
import { DEMO, getText, readAll, WORKSPACE_NOTES, withWorkspace } from './with-workspace.ts';

const STATUSES = ['pending', 'delivered', 'failed'] as const;
const WEBHOOK = { name: 'WEBHOOK', meaning: 'webhook id from `questline webhooks list`' };
const STATUS: Option = { name: 'status', value: 'STATUS', meaning: `only these: ${STATUSES.join(', ')}` };

export const listWebhooks: Command = {
  name: 'webhooks list',
  summary: 'List the webhooks of all users and organizations, oldest first, without their secrets.',
  options: [JSON_OUTPUT, DEMO, HELP],
  notes: WORKSPACE_NOTES,
  async run(given, surroundings) {
    await withWorkspace(given, surroundings, async (services) => {
      const webhooks = await readAll(services.store.collection(WEBHOOKS));
      const rows = await Promise.all(
        webhooks.map(async (webhook) => shown(webhook, await findOwnerName(services, webhook))),
      );
      show(given, surroundings, { webhooks: rows }, () =>
        columns(
          ['ID', 'OWNER', 'STATUS', 'LAST ACCEPTED', 'EVENTS', 'ADDRESS'],
          webhooks.map(({ id, lastSuccessAt, types, url }, at) => [
            id,
            rows[at]?.owner ?? '-',
            rows[at]?.status ?? '-',
            moment(lastSuccessAt ?? null),
            String(types.length),
            url,
          ]),
        ),
      );
    });
  },
};

export const listDeliveries: Command = {
  name: 'webhooks deliveries',
  summary: 'List the deliveries of a webhook in the last 7 days, oldest first.',
  arguments: [WEBHOOK],
  options: [STATUS, JSON_OUTPUT, DEMO, HELP],
  notes: WORKSPACE_NOTES,
  async run(given, surroundings) {
    const status = getStatus(getText(given, STATUS.name));
    await withWorkspace(given, surroundings, async ({ store }) => {
      const { id } = await findWebhook(store, String(given.get(WEBHOOK.name)));
      const deliveries = await readAll(store.collection(WEBHOOK_DELIVERIES), {
        webhookId: id,
        ...(status !== undefined && { status }),
      });
      show(given, surroundings, { deliveries: deliveries.map(shownDelivery) }, () =>
        columns(
          ['ID', 'EVENT', 'TYPE', 'STATUS', 'REQUESTS', 'LAST ANSWER', 'CREATED'],
          deliveries.map((one) => [
            one.id,
            one.eventId,
            one.type,
            one.status,
            String(one.attempts),
            String(one.lastStatus ?? one.lastFailure ?? '-'),
            moment(one.createdAt),
          ]),
        ),
      );
    });
  },
};

export const replayDeliveries: Command = {
  name: 'webhooks replay',
  summary: 'Send deliveries of a webhook again. A running server sends them.',
  arguments: [WEBHOOK],
  options: [
    { name: 'delivery', value: 'ID', meaning: 'only this delivery (default: all that failed)' },
    { name: 'enable', meaning: 'enable a disabled webhook first' },
    JSON_OUTPUT,
    DEMO,
    HELP,
  ],
  notes: WORKSPACE_NOTES,
  async run(given, surroundings) {
    const delivery = getText(given, 'delivery');
    await withWorkspace(given, surroundings, async (services) => {
      const { store } = services;
      const webhook = await findWebhook(store, String(given.get(WEBHOOK.name)));
      if (webhook.status === 'disabled') {
        if (!given.has('enable')) throw new CliError([`the webhook ${webhook.id} is disabled; add --enable`]);
        const enabled = { status: 'active', disabledFor: undefined, disabledAt: undefined } as const;
        await store.collection(WEBHOOKS).update(webhook.id, enabled);
      }
      const deliveries = store.collection(WEBHOOK_DELIVERIES);
      const chosen =
        delivery === undefined
          ? await readAll(deliveries, { webhookId: webhook.id, status: 'failed' })
          : [await deliveries.get(delivery, { webhookId: webhook.id })];
      const replayed: string[] = [];
      for (const one of chosen) {
        if (one === undefined) throw new CliError([`there is no delivery ${delivery} of this webhook`]);
        if ((await replayDelivery(services, one.id)) !== undefined) replayed.push(one.id);
      }
      show(given, surroundings, { replayed }, () => `Replays ${replayed.length} deliveries.\n`);
    });
  },
};

/** @throws CliError for an unknown status. */
function getStatus(text: string | undefined): WebhookDeliveryRecord['status'] | undefined {
  if (text === undefined) return undefined;
  const status = STATUSES.find((one) => one === text);
  if (status !== undefined) return status;
  throw new CliError([`--status: expected one of ${STATUSES.join(', ')}, got '${text}'`], 2);
}

/** @throws CliError when no webhook has this id. */
async function findWebhook(store: Services['store'], id: string): Promise<WebhookRecord> {
  const webhook = await store.collection(WEBHOOKS).get(id);
  if (webhook === undefined) throw new CliError([`there is no webhook ${id}`]);
  return webhook;
}

async function findOwnerName(
  { store }: Services,
  { organizationId, owner }: WebhookRecord,
): Promise<string | undefined> {
  if (organizationId !== null) return (await store.collection(ORGANIZATIONS).get(organizationId))?.name;
  return (await store.collection(USERS).get(owner.slice('user:'.length)))?.email;
}

function shown(webhook: WebhookRecord, owner: string | undefined) {
  const { id, url, description, types, organizationId, status, disabledFor } = webhook;
  return {
    ...{ id, owner: owner ?? webhook.owner, organizationId, url, description, types },
    status: status === 'disabled' ? `disabled: ${disabledFor ?? 'owner'}` : status,
    createdAt: new Date(webhook.createdAt).toISOString(),
  };
}

function shownDelivery(delivery: WebhookDeliveryRecord) {
  const { id, eventId, type, status, attempts, lastStatus = null, lastFailure = null } = delivery;
  const createdAt = new Date(delivery.createdAt).toISOString();
  return { id, eventId, type, status, attempts, lastStatus, lastFailure, createdAt };
}
