import { WEBHOOKS } from '@questline/core/internal';
import { expect } from 'vitest';
import { makeWebhook, makeWebhookDelivery } from '../../support/owned-resources.ts';
import { NOW, type TestApp } from '../../support/test-app.ts';
import type { Asked } from '../../support/wire.ts';
import { badPages, onePage, refused, type WireCase } from './case.ts';

const URL = 'https://hooks.example.com/in';
const AT = new Date(NOW).toISOString();

const record = (change: object = {}): object => ({
  id: expect.stringMatching(/^[0-9a-f]{24}$/),
  url: URL,
  description: '',
  types: expect.arrayContaining(['quest.done', 'credits.low']),
  organizationId: null,
  status: 'active',
  disabledFor: null,
  lastSuccessAt: null,
  previousSecretUntil: null,
  createdAt: AT,
  ...change,
});
const secret = expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/);

const delivery = (change: object = {}): object => ({
  id: expect.stringMatching(/^[0-9a-f]{24}$/),
  eventId: expect.stringMatching(/^evt_[0-9a-f]{24}$/),
  type: 'webhook.test',
  payload: {
    type: 'webhook.test',
    timestamp: AT,
    data: { id: expect.stringMatching(/^[0-9a-f]{24}$/) },
  },
  status: 'pending',
  attempts: 0,
  lastStatus: null,
  lastFailure: null,
  nextAttemptAt: null,
  createdAt: AT,
  ...change,
});

const at =
  (action = '', body?: object) =>
  async (app: TestApp): Promise<Partial<Asked>> => ({
    path: `/api/webhooks/${await makeWebhook(app, app.user)}${action}`,
    ...(body !== undefined && { body }),
  });
const NOT_FOUND = refused('application', { status: 404, message: 'Webhook not found' });
const UNKNOWN_ID: WireCase = { title: 'answers 404 for an unknown webhook', ...NOT_FOUND };

export const createWebhook: readonly WireCase[] = [
  {
    title: 'returns the secret once and ignores fields set by the server',
    ask: {
      body: {
        url: URL,
        types: ['quest.done', 'file.blocked', 'quest.done'],
        description: 'Ours',
        owner: `user:${'f'.repeat(24)}`,
        createdBy: 'f'.repeat(24),
        sealedSecret: 'x',
        secret: 'whsec_x',
        status: 'disabled',
      },
    },
    status: 201,
    body: record({ types: ['quest.done', 'file.blocked'], description: 'Ours', secret }),
    everywhere: true,
  },
  {
    title: 'rejects an organization the caller does not administer',
    ask: { body: { url: URL, organizationId: 'a'.repeat(24) } },
    ...refused('application', { status: 404, message: 'Organization not found' }),
  },
  {
    title: 'rejects an eleventh webhook',
    ask: async (app) => {
      for (let count = 0; count < 10; count += 1) await makeWebhook(app, app.user);
      return { body: { url: URL } };
    },
    ...refused('application', {
      status: 400,
      code: 'WEBHOOK_CAP',
      message: 'You have the maximum of 10 webhooks; delete one first',
    }),
  },
  {
    title: 'rejects an invalid URL',
    ask: { body: { url: 'example.com' } },
    ...refused('application', {
      status: 422,
      message: 'url: expected an http or https URL without credentials, got 11 characters of text',
      details: [
        {
          path: 'url',
          message: 'expected an http or https URL without credentials, got 11 characters of text',
        },
      ],
    }),
  },
];

const disabled =
  (path: (id: string, deliveryId: string) => string) =>
  async (app: TestApp): Promise<Partial<Asked>> => {
    const { webhookId, id } = await makeWebhookDelivery(app, app.user);
    await app.services.store.collection(WEBHOOKS).update(webhookId, { status: 'disabled' });
    return { path: path(webhookId, id) };
  };
const DISABLED = refused('application', { status: 409, message: 'The webhook is disabled' });

export const listWebhooks: readonly WireCase[] = [
  {
    title: 'lists the webhooks of the caller without secrets',
    ask: async (app) => {
      await makeWebhook(app, app.user);
      await makeWebhook(app, await app.addUser('grace@example.com'));
      return {};
    },
    status: 200,
    body: { webhooks: [record()], pagination: onePage(1) },
    everywhere: true,
  },
  {
    title: 'rejects an organization the caller does not administer',
    ask: { path: `/api/webhooks?organizationId=${'a'.repeat(24)}` },
    ...refused('application', { status: 404, message: 'Organization not found' }),
  },
  // The list has neither `sort` nor `search`.
  ...badPages('/api/webhooks').slice(0, 3),
];

export const getWebhook: readonly WireCase[] = [
  { title: 'returns the webhook without its secret', ask: at(), status: 200, body: record() },
  UNKNOWN_ID,
];

export const updateWebhook: readonly WireCase[] = [
  {
    title: 'changes only the named fields',
    ask: at('', { status: 'disabled', types: ['key.revoked'], organizationId: 'x', sealedSecret: 'x' }),
    status: 200,
    body: record({ status: 'disabled', disabledFor: 'owner', types: ['key.revoked'] }),
  },
  { ...UNKNOWN_ID, ask: { body: { status: 'active' } } },
];

export const deleteWebhook: readonly WireCase[] = [
  { title: 'deletes the webhook', ask: at(), status: 204, body: '' },
  UNKNOWN_ID,
];

export const rotateWebhookSecret: readonly WireCase[] = [
  {
    title: 'returns a new secret once',
    ask: at('/rotate-secret'),
    status: 200,
    body: record({ secret, previousSecretUntil: new Date(NOW + 86_400_000).toISOString() }),
  },
  UNKNOWN_ID,
];

export const testWebhook: readonly WireCase[] = [
  { title: 'accepts a test event', ask: at('/test'), status: 202, body: delivery() },
  {
    title: 'rejects a disabled webhook',
    ask: disabled((id) => `/api/webhooks/${id}/test`),
    ...DISABLED,
  },
  UNKNOWN_ID,
];

export const listWebhookDeliveries: readonly WireCase[] = [
  {
    title: 'lists the deliveries of the webhook',
    ask: async (app) => {
      const { webhookId } = await makeWebhookDelivery(app, app.user);
      return { path: `/api/webhooks/${webhookId}/deliveries` };
    },
    status: 200,
    body: {
      deliveries: [delivery({ status: 'failed', attempts: 11, lastStatus: 503 })],
      pagination: onePage(1),
    },
  },
  UNKNOWN_ID,
];

export const replayWebhookDelivery: readonly WireCase[] = [
  {
    title: 'repeats a failed delivery',
    ask: async (app) => {
      const { webhookId, id } = await makeWebhookDelivery(app, app.user);
      return { path: `/api/webhooks/${webhookId}/deliveries/${id}/replay` };
    },
    status: 202,
    body: delivery({ attempts: 11, lastStatus: 503 }),
  },
  {
    title: 'rejects a disabled webhook',
    ask: disabled((id, deliveryId) => `/api/webhooks/${id}/deliveries/${deliveryId}/replay`),
    ...DISABLED,
  },
  UNKNOWN_ID,
];
