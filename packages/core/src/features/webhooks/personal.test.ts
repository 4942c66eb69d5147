import { expect, it } from 'vitest';
import { withLateWrites } from '../../../test/late-store.ts';
import { createMemoryStore } from '../../memory/store.ts';
import type { PersonalRecord } from '../../operations/personal-data.ts';
import { personalWebhooks } from './personal.ts';
import { WEBHOOK_DELIVERIES, WEBHOOKS, type WebhookDeliveryRecord, type WebhookRecord } from './records.ts';

const toWebhook = (id: string, owner: string, createdBy: string) =>
  ({ id, owner, createdBy, status: 'active', createdAt: 1 }) as Partial<WebhookRecord> as WebhookRecord;
const toDelivery = (id: string, webhookId: string, payload = '') =>
  ({
    ...{ id, webhookId, payload },
    createdAt: 1,
  }) as Partial<WebhookDeliveryRecord> as WebhookDeliveryRecord;

/** `ada` has one webhook, and has created one of an organization. */
async function setUp() {
  const store = createMemoryStore();
  const webhooks = store.collection(WEBHOOKS);
  const deliveries = store.collection(WEBHOOK_DELIVERIES);
  await webhooks.insert(toWebhook('w1', 'user:ada', 'ada'));
  await webhooks.insert(toWebhook('w2', 'organization:o', 'ada'));
  await webhooks.insert(toWebhook('w3', 'user:bob', 'bob'));
  await deliveries.insert(toDelivery('d1', 'w1'));
  await deliveries.insert(toDelivery('d2', 'w2', '{"data":{"userId":"ada"}}'));
  await deliveries.insert(toDelivery('d3', 'w3', '{"data":{"userId":"bob"}}'));
  return { webhooks, deliveries, personal: personalWebhooks({ store: withLateWrites(store) }) };
}

it('finds the webhooks of a user, each behind its deliveries', async () => {
  const { personal, webhooks, deliveries } = await setUp();
  const found: PersonalRecord[] = [];
  for await (const one of personal.find?.('ada') ?? []) found.push(one);
  expect(found).toEqual([
    { shape: WEBHOOK_DELIVERIES, record: await deliveries.get('d1') },
    { shape: WEBHOOKS, record: await webhooks.get('w1') },
  ]);
});

it('removes a deleted user from the webhooks of organizations, and deliveries that name the user', async () => {
  const { personal, webhooks, deliveries } = await setUp();
  await personal.eraseTraces?.('ada', new Set());
  expect((await webhooks.find({})).map(({ id, createdBy }) => [id, createdBy])).toEqual([
    ['w1', ''],
    ['w2', ''],
    ['w3', 'bob'],
  ]);
  expect((await deliveries.find({})).map(({ id }) => id)).toEqual(['d1', 'd3']);
});

it('waits until the user has left each webhook', async () => {
  const { personal, webhooks, deliveries } = await setUp();
  for (const id of ['d1', 'd2', 'd3']) await deliveries.take(id);
  await personal.eraseTraces?.('ada', new Set());
  expect((await webhooks.get('w2'))?.createdBy).toBe('');
});
